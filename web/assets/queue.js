// A list of files that were dropped or chosen, and their way to the server: in resumable pieces, three at a time.
// It lives in the elements #drop, #file, #queue with #queue-sum and #files, and makes its lines from #file-line.
(function () {
  "use strict";
  var ENDPOINT = "/api/v1/evidence", CHUNK = 16 << 20, AT_ONCE = 3;

  // uploadQueue makes the queue of the page. metadata() is what goes with each file; taken(item) and changed(queue)
  // are told what happens; added(queue) as files are chosen. Each item has file, row, state, which is one of ready,
  // waiting, sending, paused, done and failed, run, where the server named one, and body, its last answer.
  function uploadQueue(options) {
    var input = document.getElementById("file"), drop = document.getElementById("drop"), line = document.getElementById("file-line");
    var queue = document.getElementById("queue"), list = document.getElementById("files"), sum = document.getElementById("queue-sum");
    var self = { items: [], count: count, send: sendAll };

    // ---- choosing ----
    function add(files) {
      Array.prototype.forEach.call(files, function (file) {
        var same = self.items.find(function (i) { return i.file.name === file.name && i.file.size === file.size && i.file.lastModified === file.lastModified; });
        if (same) {
          if (same.state === "failed") same.state = "ready";
          return;
        }
        var row = line.content.firstElementChild.cloneNode(true), item = { file: file, row: row, state: "ready" };
        row.querySelector(".name").textContent = file.name;
        row.querySelector(".name").title = file.name;
        row.querySelector("progress").setAttribute("aria-label", file.name);
        row.querySelector("[data-act=remove]").setAttribute("aria-label", "Remove " + file.name);
        row.addEventListener("click", function (e) { act(item, e.target.dataset.act); });
        self.items.push(item);
        list.appendChild(row);
        show(item, size(file.size));
      });
      input.value = ""; // the list is what counts now; the same file may be chosen again
      refresh();
      if (options.added) options.added(self);
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
    // sendAll sends what is ready, and on request what failed before.
    function sendAll(again) {
      var metadata = options.metadata();
      self.items.forEach(function (i) {
        if (i.state !== "ready" && !(again && i.state === "failed")) return;
        i.state = "waiting";
        i.metadata = metadata;
        i.upload = null;
        show(i, "waiting");
      });
      next();
    }
    function next() {
      self.items.filter(function (i) { return i.state === "waiting"; }).slice(0, Math.max(0, AT_ONCE - count("sending"))).forEach(send);
      refresh();
    }
    function send(item) {
      item.state = "sending";
      show(item, "starting");
      item.upload = new tus.Upload(item.file, {
        endpoint: ENDPOINT, chunkSize: CHUNK, retryDelays: [0, 1000, 3000, 5000, 10000, 20000],
        metadata: Object.assign({ filename: item.file.name }, item.metadata), removeFingerprintOnSuccess: true,
        // What was begun goes on only where it was meant for the same place.
        fingerprint: function (file) {
          return Promise.resolve(["heapdrift", file.name, file.size, file.lastModified, JSON.stringify(item.metadata)].join("-"));
        },
        onProgress: function (sent, all) {
          item.row.querySelector("progress").value = all ? 100 * sent / all : 0;
          show(item, size(sent) + " of " + size(all));
        },
        onAfterResponse: function (req, res) {
          item.run = res.getHeader("X-Heapdrift-Run") || item.run;
          item.body = res.getBody();
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
      if (state === "done" && options.taken) options.taken(item);
      next();
    }
    // reason is what the server said, as problem+json, or why it could not be asked.
    function reason(err) {
      var res = err && err.originalResponse;
      if (!res) return "The server does not answer. Send it again: what has arrived is kept.";
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
        self.items.splice(self.items.indexOf(item), 1);
        item.row.remove();
        next();
      }
      refresh();
    }
    window.addEventListener("beforeunload", function (e) {
      if (count("sending") + count("waiting") > 0) e.preventDefault();
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
    function count(state) { return self.items.filter(function (i) { return i.state === state; }).length; }
    function refresh() {
      queue.hidden = !self.items.length;
      var done = count("done"), failed = count("failed");
      var parts = [self.items.length + (self.items.length === 1 ? " file" : " files")];
      if (done) parts.push(done + " taken");
      if (failed) parts.push(failed + " not taken");
      sum.textContent = parts.join(", ");
      self.busy = count("sending") + count("waiting") + count("paused") > 0;
      queue.toggleAttribute("data-sending", self.busy);
      if (options.changed) options.changed(self);
    }
    function size(n) {
      var units = ["B", "KB", "MB", "GB", "TB"], at = 0;
      while (n >= 999.5 && at < units.length - 1) { n /= 1024; at++; }
      return (at === 0 ? n : n.toFixed(n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2)) + " " + units[at];
    }
    refresh();
    return self;
  }

  // Where tus is not supported there is no queue: the plain form works everywhere.
  window.uploadQueue = window.tus && tus.isSupported ? uploadQueue : null;
})();
