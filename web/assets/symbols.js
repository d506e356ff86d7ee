// Symbol files are sent as soon as they are dropped. The page of a run then follows its jobs: when a new report is
// there, it is loaded anew and shows the names.
(function () {
  "use strict";
  if (!document.getElementById("symbol-form") || !window.uploadQueue) return;
  var queue = uploadQueue({
    metadata: function () { return { kind: "symbols" }; },
    added: function () { queue.send(false); },
    taken: found,
    changed: function (queue) { if (queue.items.length && !queue.busy && queue.count("done")) follow(); }
  });

  // found says what a file was recognised as: itself, or each file of an archive.
  function found(item) {
    var answer;
    try { answer = JSON.parse(item.body); } catch (e) { return; }
    var list = document.createElement("ul");
    list.className = "found";
    (answer.modules || []).forEach(function (m) {
      line(list, "", [m.name, m.kind === "image" ? "image" : "PDB", m.symbols, m.bits ? m.bits + "-bit" : "", m.key],
        m.runs ? "updates the names of " + m.runs + (m.runs === 1 ? " run" : " runs") : "no run needs this file yet", m.note);
    });
    (answer.refused || []).forEach(function (r) { line(list, "bad", [r.name, r.code], r.message); });
    item.row.appendChild(list);
  }
  function line(list, kind, words, said, note) {
    var li = document.createElement("li");
    li.className = kind;
    words.filter(Boolean).forEach(function (w, i) {
      var part = document.createElement(i ? "span" : "b");
      part.textContent = w;
      li.append(part, " ");
    });
    [said, note].filter(Boolean).forEach(function (text) {
      var p = document.createElement("p");
      p.textContent = text;
      li.appendChild(p);
    });
    list.appendChild(li);
  }

  // follow shows the stages of the run's jobs. A stream that ends with the report that the page shows already was not
  // about this run: what was sent stays to be read.
  function follow() {
    var template = document.getElementById("follow");
    if (!template || document.querySelector(".follow")) return;
    var live = template.content.firstElementChild.cloneNode(true);
    template.after(live);
    htmx.process(live);
  }
  document.addEventListener("htmx:sseClose", function (e) {
    var live = e.target.closest(".follow");
    if (!live || e.detail.type !== "message") return;
    live.remove();
    if (!queue.busy && live.querySelector("[sse-swap=report]").textContent !== live.dataset.report) location.reload();
  });
})();
