// The upload page: evidence of one run, sent when the form is.
(function () {
  "use strict";
  var FIELDS = ["project", "build", "scenario", "run", "branch", "sequence", "work", "work_unit"];
  var form = document.getElementById("upload"), start = document.getElementById("start"), toRun = document.getElementById("to-run");
  if (!form || !window.uploadQueue) return;

  function values() {
    var v = {};
    FIELDS.forEach(function (name) { var text = form.elements[name].value.trim(); if (text) v[name] = text; });
    return v;
  }
  var queue = uploadQueue({ metadata: values, changed: refresh });
  form.addEventListener("submit", function (e) {
    e.preventDefault();
    if (queue.items.length) queue.send(true); else document.getElementById("file").click();
  });
  function refresh(queue) {
    var done = queue.count("done"), failed = queue.count("failed");
    start.disabled = queue.busy || (queue.items.length > 0 && done === queue.items.length);
    var one = queue.items.find(function (i) { return i.state === "done" && i.run; });
    toRun.hidden = !one || queue.busy;
    if (one) toRun.href = "/runs/" + one.run;
    toRun.classList.toggle("primary", !toRun.hidden && !failed);
    start.classList.toggle("primary", toRun.hidden || failed > 0);
    if (!toRun.hidden && !failed && document.activeElement === document.body) toRun.focus();
  }

  // ---- the line for scripts follows what is typed ----
  var shown = document.getElementById("curl").textContent, send = shown.slice(0, shown.indexOf("-T ")); // with a token, where the server asks for one
  function command() {
    var v = values(), q = new URLSearchParams();
    q.set("project", v.project || "PROJECT");
    q.set("build", v.build || "BUILD");
    FIELDS.slice(2).forEach(function (name) { if (v[name]) q.set(name, v[name]); });
    q.set("name", "snap1.log");
    document.getElementById("curl").textContent = send + '-T snap1.log "' + form.dataset.server + "/api/v1/evidence?" + q + '"';
  }
  form.addEventListener("input", command);
})();
