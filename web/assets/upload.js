// The upload page: files dropped or chosen are listed, then sent in resumable pieces, three at a time.
(function () {
  "use strict";
  var ENDPOINT = "/api/v1/evidence", CHUNK = 16 << 20, AT_ONCE = 3;
  var FIELDS = ["project", "build", "scenario", "run", "branch", "sequence"];
  var form = document.getElementById("upload"), input = document.getElementById("file"), drop = document.getElementById("drop");
  var queue = document.getElementById("queue"), list = document.getElementById("files"), sum = document.getElementById("queue-sum");
  var start = document.getElementById("start"), toRun = document.getElementById("to-run"), line = document.getElementById("file-line");
  var items = []; // each {file, row, state: ready|waiting|sending|paused|done|failed, upload}
  if (!form || !tus.isSupported) return; // the plain form works everywhere

  // ---- choosing ----
  function add(files) {
    Array.prototype.forEach.call(files, function (file) {
      if (items.some(function (i) { return i.file.name === file.name && i.file.size === file.size && i.file.lastModified === file.lastModified; })) return;
      var row = line.content.firstElementChild.cloneNode(true), item = { file: file, row: row, state: "ready" };
      row.querySelector(".name").textContent = file.name;
      row.querySelector("progress").setAttribute("aria-label", file.name);
      row.querySelector("[data-act=remove]").setAttribute("aria-label", "Remove " + file.name);
      row.addEventListener("click", function (e) { act(item, e.target.dataset.act); });
      items.push(item);
      list.appendChild(row);
      show(item, size(file.size));
    });
    input.value = ""; // the list is what counts now; the same file may be chosen again
    refresh();
  }
  input.addEventListener("change", function () { add(input.files); });
  ["dragenter", "dragover"].forEach(function (name) {
    drop.addEventListener(name, function (e) { e.preventDefault(); drop.classList.add("over"); });
  });
  drop.addEventListener("dragleave", function (e) { if (!drop.contains(e.relatedTarget)) drop.classList.remove("over"); });
  drop.addEventListener("drop", function (e) { e.preventDefault(); drop.classList.remove("over"); add(e.dataTransfer.files); });
  // A file that misses the zone would else replace the page.
  ["dragover", "drop"].forEach(function (name) { window.addEventListener(name, function (e) { e.preventDefault(); }); });

  // ---- sending ----
  function values() {
    var v = {};
    FIELDS.forEach(function (name) { var text = form.elements[name].value.trim(); if (text) v[name] = text; });
    return v;
  }
  form.addEventListener("submit", function (e) {
    e.preventDefault();
    if (!items.length) { input.click(); return; }
    var meta = values();
    items.forEach(function (i) {
      if (i.state !== "ready" && i.state !== "failed") return;
      i.state = "waiting";
      i.meta = meta;
      i.upload = null;
      show(i, "waiting");
    });
    next();
  });
  function next() {
    var sending = items.filter(function (i) { return i.state === "sending"; }).length;
    items.filter(function (i) { return i.state === "waiting"; }).slice(0, Math.max(0, AT_ONCE - sending)).forEach(send);
    refresh();
  }
  function send(item) {
    item.state = "sending";
    show(item, "starting");
    item.upload = new tus.Upload(item.file, {
      endpoint: ENDPOINT, chunkSize: CHUNK, retryDelays: [0, 1000, 3000, 5000, 10000, 20000],
      metadata: Object.assign({ filename: item.file.name }, item.meta), removeFingerprintOnSuccess: true,
      // What was begun goes on only where it was meant for the same place.
      fingerprint: function (file) {
        return Promise.resolve(["heapdrift", file.name, file.size, file.lastModified, JSON.stringify(item.meta)].join("-"));
      },
      onProgress: function (sent, all) {
        item.row.querySelector("progress").value = all ? 100 * sent / all : 0;
        show(item, size(sent) + " of " + size(all));
      },
      onAfterResponse: function (req, res) {
        item.run = res.getHeader("X-Heapdrift-Run") || item.run;
        item.url = res.getHeader("X-Heapdrift-Url") || item.url;
      },
      onSuccess: function () { end(item, "done", size(item.file.size) + ", taken"); },
      onError: function (err) { end(item, "failed", "not taken", reason(err)); }
    });
    item.upload.findPreviousUploads().then(function (before) {
      if (before.length) item.upload.resumeFromPreviousUpload(before[0]);
      if (item.state === "sending") item.upload.start();
    }, function (err) { end(item, "failed", "not taken", reason(err)); });
  }
  function end(item, state, text, problem) {
    item.state = state;
    if (state === "done") item.row.querySelector("progress").value = 100;
    show(item, text, problem);
    next();
  }
  // reason is what the server said, as problem+json, or why it could not be asked.
  function reason(err) {
    var res = err && err.originalResponse;
    if (!res) return "The server does not answer. Choose Upload again: what has arrived is kept.";
    try {
      var p = JSON.parse(res.getBody());
      return { code: p.code, text: p.detail || p.title };
    } catch (e) {
      return "The server answered " + res.getStatus() + ".";
    }
  }
  function act(item, what) {
    if (what === "pause" && item.state === "sending") {
      item.state = "paused";
      item.upload.abort();
      show(item, "paused");
      next();
    } else if (what === "pause" && item.state === "paused") {
      item.state = "sending";
      show(item, "going on");
      item.upload.start();
    } else if (what === "remove") {
      if (item.upload && item.state !== "done") item.upload.abort(true).catch(function () { /* the server sweeps it */ });
      items.splice(items.indexOf(item), 1);
      item.row.remove();
      next();
    }
    refresh();
  }
  window.addEventListener("beforeunload", function (e) {
    if (items.some(function (i) { return i.state === "sending" || i.state === "waiting"; })) e.preventDefault();
  });

  // ---- showing ----
  function show(item, text, problem) {
    var row = item.row, err = row.querySelector(".err"), pause = row.querySelector("[data-act=pause]");
    row.classList.toggle("done", item.state === "done");
    row.classList.toggle("failed", item.state === "failed");
    row.querySelector(".st").textContent = text;
    pause.hidden = item.state !== "sending" && item.state !== "paused";
    pause.textContent = item.state === "paused" ? "Resume" : "Pause";
    row.querySelector("[data-act=remove]").hidden = item.state === "done";
    err.hidden = !problem;
    err.textContent = "";
    if (problem && problem.code) {
      var code = document.createElement("span");
      code.className = "code";
      code.textContent = problem.code;
      err.append(code, " " + problem.text);
    } else if (problem) {
      err.textContent = problem;
    }
  }
  function count(state) { return items.filter(function (i) { return i.state === state; }).length; }
  function refresh() {
    queue.hidden = !items.length;
    var done = count("done"), failed = count("failed"), busy = count("sending") + count("waiting") + count("paused");
    var parts = [items.length + (items.length === 1 ? " file" : " files")];
    if (done) parts.push(done + " taken");
    if (failed) parts.push(failed + " not taken");
    sum.textContent = parts.join(", ");
    start.disabled = busy > 0 || (items.length > 0 && done === items.length);
    var one = items.find(function (i) { return i.state === "done" && i.run; });
    toRun.hidden = !one || busy > 0;
    if (one) toRun.href = "/runs/" + one.run;
    toRun.classList.toggle("primary", !toRun.hidden && !failed);
    start.classList.toggle("primary", toRun.hidden || failed > 0);
    if (!toRun.hidden && !failed && document.activeElement === document.body) toRun.focus();
  }
  function size(n) {
    var units = ["B", "KB", "MB", "GB", "TB"], at = 0;
    while (n >= 999.5 && at < units.length - 1) { n /= 1024; at++; }
    return (at === 0 ? n : n.toFixed(n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2)) + " " + units[at];
  }

  // ---- the line for scripts follows what is typed ----
  function command() {
    var v = values(), q = new URLSearchParams();
    q.set("project", v.project || "PROJECT");
    q.set("build", v.build || "BUILD");
    FIELDS.slice(2).forEach(function (name) { if (v[name]) q.set(name, v[name]); });
    q.set("name", "snap1.log");
    document.getElementById("curl").textContent = 'curl --fail-with-body -T snap1.log "' + form.dataset.server + ENDPOINT + "?" + q + '"';
  }
  form.addEventListener("input", command);
  refresh();
})();
