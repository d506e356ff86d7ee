// Stands in for the tools that a kit calls: it writes down its name and arguments, and what the tool would leave behind.
//   KIT_LOG   the file of the log      KIT_FAIL  a name that ends with 1 instead
//   KIT_PIDS  processes of app.exe     KIT_WOW   1 if the process has wow64.dll
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static void leave(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    if (f) { fputs(text, f); fclose(f); }
}

static void record_stacks(const char *image) {
    char path[512];
    DWORD flag = 0x1000, size = 512;
    HKEY key;
    snprintf(path, sizeof path, "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Image File Execution Options\\%s", image);
    if (RegCreateKeyExA(HKEY_LOCAL_MACHINE, path, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL)) exit(1);
    RegSetValueExA(key, "GlobalFlag", 0, REG_DWORD, (BYTE *)&flag, 4);
    RegSetValueExA(key, "StackTraceDatabaseSizeInMb", 0, REG_DWORD, (BYTE *)&size, 4);
    RegCloseKey(key);
}

int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '\\'), *fail = getenv("KIT_FAIL"), *pids = getenv("KIT_PIDS"), *wow = getenv("KIT_WOW");
    name = name ? name + 1 : argv[0];
    char tool[64];
    snprintf(tool, sizeof tool, "%s", name);
    char *dot = strchr(tool, '.');
    if (dot) *dot = 0;
    FILE *log = fopen(getenv("KIT_LOG"), "ab");
    if (!log) return 9;
    fputs(strstr(argv[0], "\\x86\\") ? "x86/" : "", log);
    fputs(tool, log);
    for (int i = 1; i < argc; i++) fprintf(log, " %s", argv[i]);
    fputs("\n", log);
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(tool, "curl") && !strcmp(argv[i], "-K")) { // what the file says that holds the token
            char line[256] = "";
            FILE *f = fopen(argv[i + 1], "r");
            if (f && fgets(line, sizeof line, f)) fprintf(log, "curl reads %s", line);
            if (f) fclose(f);
        }
    fclose(log);
    if (fail && !strcmp(fail, tool)) return 1;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "-f:", 3)) leave(argv[i] + 3, "snapshot");
        if (!strncmp(argv[i], "/DataFile:", 10)) leave(argv[i] + 10, "trace");
        if (!strcmp(argv[i], "-o") && i + 1 < argc && strcmp(argv[i + 1], "nul"))
            leave(argv[i + 1], "{\"id\":12,\"sha256\":\"9f\",\"run\":7,\"url\":\"/runs/7\",\"name\":\"a\",\"bytes\":8,\"kind\":\"umdh\","
                               "\"warnings\":[{\"code\":\"no-branch\",\"message\":\"no branch & no run: (100% sure)\"}]}\n");
        if (!strcmp(argv[i], "-d") && i + 1 < argc) leave(argv[i + 1], "trace");
        if (!strcmp(argv[i], "-stop") && i + 1 < argc && strstr(argv[i + 1], ".etl")) leave(argv[i + 1], "trace");
        if (!strcmp(argv[i], "-merge")) leave(argv[argc - 1], "trace");
        if (!strcmp(argv[i], "/m") && wow && *wow == '1') printf("app.exe %s wow64.dll\n", pids);
        if (!strcmp(argv[i], "csv")) {
            char list[64], *next;
            snprintf(list, sizeof list, "%s", pids ? pids : "");
            for (next = strtok(list, " "); next; next = strtok(NULL, " "))
                printf("\"app.exe\",\"%s\",\"Console\",\"1\",\"5,000 K\"\n", next);
        }
    }
    if (!strcmp(tool, "procdump")) leave(argv[argc - 1], "dump");
    if (!strcmp(tool, "gflags") && argc > 2) record_stacks(argv[2]);
    return 0;
}
