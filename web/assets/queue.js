// A list of files that were dropped or chosen, and their way to the server: three at a time. It lives in the elements
// #drop, #file, #queue with #queue-sum and #files, and makes its lines from #file-line. #queue-pace and #queue-all, where
// they are, show the figures of all files together.
(function () {
  "use strict";
  var AT_ONCE = 3;
  var ACTIVE = ["sending", "retrying", "offline"]; // they have one of the places
  var BUSY = ACTIVE.concat("waiting", "paused", "elsewhere"); // the page must stay
  var pace = window.uploadPace, begun = window.uploadsBegun, words = window.uploadWords;

  // uploadQueue makes the queue of the page. metadata() is what goes with each file; taken(item) and changed(queue)
  // are told what happens; added(items) as files are chosen. Each item has file, row, sent, in bytes, and state, which is
  // one of ready, unfit, waiting, sending, retrying, offline, elsewhere, paused, done and failed; run, where the server
  // named one, and body, its last answer. The page may set says, a sentence about the file.
  function uploadQueue(options) {
    var input = document.getElementById("file"), drop = document.getElementById("drop"), line = document.getElementById("file-line");
    var queue = document.getElementById("queue"), list = document.getElementById("files"), sum = document.getElementById("queue-sum");
    var paceOfAll = document.getElementById("queue-pace"), barOfAll = document.getElementById("queue-all");
    var title = document.title, meter = pace.meter(), gone = 0; // bytes since the page opened
    var self = { items: [], busy: false, count: count, send: sendAll, sendOne: sendOne, add: add, refuse: refuse, show: show };

    // ---- choosing ----
    // add takes files; metadata is where they go where that is not what the page says when they are sent. Those that folders names are
    // not files: browsers hand a folder over as one that cannot be read.
    function add(files, metadata, folders) {
      var added = [];
      Array.prototype.forEach.call(files, function (file) {
        var same = self.items.find(function (i) { return i.file.name === file.name && i.file.size === file.size && i.file.lastModified === file.lastModified; });
        if (same && same.state === "failed") set(same, "ready");
        if (same) return;
        var stale = self.items.find(function (i) { return i.file.name === file.name && i.state === "failed" && i.problem.changed; });
        if (stale) takeOut(stale); // the line of that says to choose it again
        var row = line.content.firstElementChild.cloneNode(true), item = { file: file, row: row, state: "ready", sent: 0, metadata: metadata, fixed: !!metadata };
        row.querySelector(".name").textContent = file.name;
        row.querySelector("progress").setAttribute("aria-label", file.name);
        row.querySelectorAll("[data-act]").forEach(function (b) { b.setAttribute("aria-label", b.textContent + " " + file.name); });
        row.addEventListener("click", function (e) { act(item, e.target.dataset.act); });
        self.items.push(item);
        if (!folders || folders.indexOf(file.name) < 0) added.push(item);
        else Object.assign(item, { state: "unfit", unfit: { text: "Drop the files of this folder, or pack it as zip." } });
        list.appendChild(row);
        show(item);
      });
      input.value = ""; // the list is what counts now; the same file may be chosen again
      refresh();
      if (options.added) options.added(added);
      return added;
    }
    function foldersOf(transfer) {
      return Array.prototype.map.call(transfer.items, function (i) { return i.webkitGetAsEntry && i.webkitGetAsEntry(); })
        .filter(function (entry) { return entry && entry.isDirectory; }).map(function (entry) { return entry.name; });
    }
    input.addEventListener("change", function () { add(input.files); });
    ["dragenter", "dragover"].forEach(function (name) {
      drop.addEventListener(name, function (e) { e.preventDefault(); drop.classList.add("over"); });
    });
    drop.addEventListener("dragleave", function (e) { if (!drop.contains(e.relatedTarget)) drop.classList.remove("over"); });
    drop.addEventListener("drop", function (e) { e.preventDefault(); drop.classList.remove("over"); add(e.dataTransfer.files, undefined, foldersOf(e.dataTransfer)); });
    // A file that misses the zone would else replace the page.
    ["dragover", "drop"].forEach(function (name) { window.addEventListener(name, function (e) { e.preventDefault(); }); });

    // ---- sending ----
    // sendAll sends what is ready, and on request what failed before.
    function sendAll(again) {
      self.items.forEach(function (i) { if (i.state === "ready" || again && i.state === "failed") enqueue(i); });
      next();
    }
    function sendOne(item) {
      enqueue(item);
      next();
    }
    function enqueue(item) {
      if (!item.fixed) item.metadata = options.metadata();
      item.transfer = uploadTransfer(item.file, item.metadata, events(item));
      set(item, "waiting");
    }
    function next() {
      // One by one: to send a file tells other tabs and may come back here.
      for (var item; count.apply(null, ACTIVE) < AT_ONCE && (item = self.items.find(function (i) { return i.state === "waiting"; }));) send(item);
      refresh();
    }
    function send(item) {
      if (begun.elsewhere(item.transfer.key) && !item.insists) return set(item, "elsewhere");
      item.meter = pace.meter();
      if (!count("sending")) meter.reset(); // after a pause as after a break
      set(item, "sending");
      begun.take(item.transfer.key);
      item.transfer.start();
    }
    // What another tab has in hand is waited for: it arrives, or that tab closes and it goes on here.
    begun.listen(function () {
      self.items.forEach(function (i) {
        if (i.state !== "elsewhere" || begun.elsewhere(i.transfer.key)) return;
        var ended = begun.endOf(i.transfer.key);
        if (ended) arrive(i, ended.run); else set(i, "waiting");
      });
      next();
    });
    function events(item) {
      return {
        progress: function (sent) {
          var now = performance.now(), more = Math.max(0, sent - item.sent);
          if (!item.metered) more = 0; // what was there before did not go now
          item.metered = true;
          gone += more;
          item.sent = sent;
          item.meter.sent(sent, now);
          meter.sent(gone, now);
          show(item);
          figures();
        },
        wait: function (why) {
          item.why = why;
          set(item, why.offline ? "offline" : "retrying");
        },
        going: function () {
          item.metered = false;
          item.meter.reset();
          if (!count("sending")) meter.reset();
          set(item, "sending");
        },
        anew: function () {
          item.sent = 0;
          item.note = "The server no longer has the part sent before. The upload starts again.";
        },
        done: function (run, body) {
          item.body = body;
          arrive(item, run);
        },
        failed: function (problem) {
          item.problem = problem;
          begun.release(item.transfer.key);
          set(item, "failed");
          next();
        }
      };
    }
    function arrive(item, run) {
      item.run = run;
      item.sent = item.file.size;
      set(item, "done");
      begun.release(item.transfer.key, { run: run });
      if (options.taken) options.taken(item);
      next();
    }
    // refuse takes a file out of the way, with the reason.
    function refuse(item, problem) {
      giveUp(item);
      item.unfit = problem;
      set(item, "unfit");
      next();
    }
    // giveUp ends a transfer for good, but not that of another tab.
    function giveUp(item) {
      if (BUSY.indexOf(item.state) < 0 || item.state === "elsewhere") return;
      if (begun.elsewhere(item.transfer.key)) item.transfer.stop(); else item.transfer.forget();
      begun.release(item.transfer.key);
    }
    function takeOut(item) {
      self.items.splice(self.items.indexOf(item), 1);
      item.row.remove();
    }
    function act(item, what) {
      if (what === "pause" && item.state === "paused") {
        set(item, "waiting");
      } else if (what === "pause") {
        item.transfer.stop();
        set(item, "paused");
      } else if (what === "now" && item.state === "elsewhere") {
        item.insists = true; // that tab may have crashed; where it did not, the server lets one of both write
        set(item, "waiting");
      } else if (what === "now") {
        if (item.state === "failed") enqueue(item); else item.transfer.start();
      } else if (what === "remove") {
        giveUp(item);
        takeOut(item);
        (document.querySelector("#files [data-act=remove]:not([hidden])") || input).focus();
      } else {
        return;
      }
      next();
    }
    window.addEventListener("beforeunload", function (e) { if (self.busy) e.preventDefault(); });

    // ---- showing ----
    function set(item, state) {
      item.state = state;
      if (state !== "failed") item.problem = null;
      show(item);
      refresh();
    }
    function show(item) {
      var row = item.row, err = row.querySelector(".err"), says = row.querySelector(".says"), state = item.state;
      row.dataset.state = state;
      row.classList.toggle("done", state === "done");
      row.classList.toggle("failed", state === "failed" || state === "unfit");
      write(row.querySelector(".st"), words.status(item));
      row.querySelector("progress").value = item.file.size ? 100 * item.sent / item.file.size : 0;
      row.querySelector("progress").hidden = state === "unfit" || state === "ready";
      write(says, [item.says].concat(words.detail(item)).filter(Boolean).join(" "));
      says.hidden = !says.textContent;
      button(row, "pause", ACTIVE.concat("paused").indexOf(state) >= 0, state === "paused" ? "Resume" : "Pause", item);
      var failed = state === "failed" && item.fixed; // the form says nothing of it, and may be empty
      button(row, "now", failed || state === "retrying" || state === "elsewhere", failed ? "Try again" : state === "elsewhere" ? "Send it here" : "Try now", item);
      button(row, "remove", state !== "done", "Remove", item);
      var problem = state === "unfit" ? item.unfit : item.problem;
      err.hidden = !problem;
      if (!problem) return;
      err.textContent = "";
      if (problem.code) {
        var code = document.createElement("span");
        code.className = "code";
        code.textContent = problem.code;
        err.append(code, " ");
      }
      err.append(problem.text);
    }
    function button(row, what, shown, text, item) {
      var b = row.querySelector("[data-act=" + what + "]");
      b.hidden = !shown;
      write(b, text);
      b.setAttribute("aria-label", text + " " + item.file.name);
    }
    function write(element, text) { if (element.textContent !== text) element.textContent = text; }

    function count() {
      var states = Array.prototype.slice.call(arguments);
      return self.items.filter(function (i) { return states.indexOf(i.state) >= 0; }).length;
    }
    // figures are those of all files that go or have gone, here and in the title of the page.
    function figures() {
      var sent = 0, all = 0, rest = 0, text = "";
      self.items.forEach(function (i) {
        if (BUSY.indexOf(i.state) < 0 && i.state !== "done") return;
        sent += i.sent;
        all += i.file.size;
        if (i.state === "sending" || i.state === "waiting") rest += i.file.size - i.sent;
      });
      if (count("sending")) text = pace.words(meter, sent, all, rest, performance.now());
      else if (count("offline")) text = "offline · " + pace.percent(sent, all) + " %";
      else if (self.busy) text = pace.percent(sent, all) + " %";
      if (paceOfAll) write(paceOfAll, text);
      if (barOfAll) {
        barOfAll.hidden = !self.busy;
        barOfAll.value = all ? 100 * sent / all : 0;
      }
      var begins = (count("offline") && !count("sending") ? "Offline, " : "") + pace.percent(sent, all) + " % · ";
      document.title = self.busy ? begins + title : title;
    }
    function refresh() {
      queue.hidden = !self.items.length;
      var parts = [self.items.length + (self.items.length === 1 ? " file" : " files")];
      [["done", "taken"], ["failed", "not taken"], ["unfit", "not evidence"], ["offline", "waiting for the line"], ["retrying", "waiting for the server"]].forEach(function (s) {
        if (count(s[0])) parts.push(count(s[0]) + " " + s[1]);
      });
      write(sum, parts.join(", "));
      self.busy = count.apply(null, BUSY) > 0;
      queue.toggleAttribute("data-sending", self.busy);
      figures();
      if (options.changed) options.changed(self);
    }
    // Speeds fall and times grow also while nothing moves.
    setInterval(function () {
      self.items.forEach(function (i) { if (i.state === "sending") show(i); });
      if (count("sending")) figures();
    }, 1000);
    refresh();
    return self;
  }

  // Where tus is not supported there is no queue: the plain form works everywhere.
  window.uploadQueue = window.tus && tus.isSupported && window.fetch ? uploadQueue : null;
})();
