// The window of a trace, or the snapshots of a series: dragged on the chart, moved by its edges with the pointer or the keys, or chosen
// in the form, whose two fields say it to the server; the numbers come back from there. Without scripts the form does it alone.
(function () {
  "use strict";
  var brush = document.getElementById("brush");
  if (!brush) return;
  var body = brush.querySelector(".brush-body"), shades = brush.querySelectorAll(".brush-shade");
  var edges = { from: brush.querySelector("[data-end=from]"), to: brush.querySelector("[data-end=to]") };
  // A trace is chosen from by times, in ns from its start; a series by its snapshots, which are stops in thousandths of the chart.
  var stops = brush.dataset.stops ? brush.dataset.stops.split(" ").map(Number) : null;
  var fields = stops ? { from: "since", to: "until" } : { from: "from", to: "to" };
  var names = stops ? { from: "First snapshot", to: "Last snapshot" } : { from: "Window start, in seconds", to: "Window end, in seconds" };
  var first = Number(brush.dataset.t0), last = Number(brush.dataset.t1);
  var now = { from: Number(brush.dataset.from), to: Number(brush.dataset.to) };
  var NEAR = 5, drag = null, timer = 0; // NEAR is in pixels
  var typed = {}; // the fields that hold what nobody has sent yet

  // round is the largest of 1, 2 and 5 times a power of ten that is not above a time: short numbers for the address.
  function round(ns) {
    var power = Math.pow(10, Math.floor(Math.log10(ns))), part = ns / power;
    return Math.max(1, power * (part >= 5 ? 5 : part >= 2 ? 2 : 1));
  }
  var step = round((last - first) / 1000), keyStep = round((last - first) / 100);

  // seconds is a time as fields have it: from a second on in milliseconds, as the server rounds it.
  function seconds(ns) { return (ns / 1e9).toFixed(Math.abs(ns) >= 1e9 ? 3 : 9).replace(/\.?0+$/, "").replace(/^-0$/, "0"); }
  // stopAt is the snapshot nearest to a place, from 0.
  function stopAt(x) {
    return stops.reduce(function (best, stop, i) { return Math.abs(stop - x) < Math.abs(stops[best] - x) ? i : best; }, 0);
  }
  function number(at) { return stops ? String(stopAt(at) + 1) : seconds(at); }
  function lengthText() {
    if (!stops) return seconds(Math.round((now.to - now.from) / step) * step) + " s long";
    var n = stopAt(now.to) - stopAt(now.from) + 1;
    return n + (n === 1 ? " snapshot" : " snapshots");
  }
  function isWhole() { return stops ? stopAt(now.from) === 0 && stopAt(now.to) === stops.length - 1 : now.from <= first && now.to >= last; }
  function clamp(ns) { return Math.max(first, Math.min(last, ns)); }
  function percent(ns) { return (ns - first) / (last - first) * 100; }
  function timeAt(e) {
    var box = body.getBoundingClientRect(), x = e.clientX - box.left;
    if (stops) return stops[stopAt(x / box.width * 1000)];
    if (x < NEAR) return first;
    if (x > box.width - NEAR) return last;
    return clamp(Math.round((first + x / box.width * (last - first)) / step) * step);
  }

  function draw() {
    var from = percent(now.from), to = percent(now.to);
    // Nothing is left out before the first snapshot and behind the last.
    shades[0].setAttribute("width", (stops && stopAt(now.from) === 0 ? 0 : from) + "%");
    shades[1].setAttribute("x", to + "%");
    shades[1].setAttribute("width", (stops && stopAt(now.to) === stops.length - 1 ? 0 : 100 - to) + "%");
    Object.keys(edges).forEach(function (end) {
      var edge = edges[end];
      edge.setAttribute("x", percent(now[end]) + "%");
      edge.classList.toggle("idle", isWhole());
      edge.setAttribute("aria-valuenow", number(now[end]));
      edge.setAttribute("aria-valuetext", stops ? "snapshot " + number(now[end]) : seconds(now[end]) + " s");
    });
    Object.keys(now).forEach(function (end) {
      var field = document.getElementById(fields[end]);
      if (stops) field.selectedIndex = stopAt(now[end]);
      else if (!typed[end]) field.value = seconds(now[end]);
    });
    document.getElementById("window-length").textContent = lengthText();
  }
  function show(from, to) {
    now = { from: Math.min(from, to), to: Math.max(from, to) };
    typed = {};
    draw();
  }
  function send() {
    clearTimeout(timer);
    timer = 0;
    document.getElementById("window").requestSubmit();
  }

  // ---- the pointer ----
  brush.addEventListener("pointerdown", function (e) {
    if (e.button !== 0 || drag) return;
    var edge = e.target.closest(".edge");
    drag = { pointer: e.pointerId, x: e.clientX, before: now, moved: false, end: edge && edge.dataset.end, anchor: edge ? null : timeAt(e) };
    brush.setPointerCapture(e.pointerId);
    if (edge) edge.focus();
    e.preventDefault();
  });
  brush.addEventListener("pointermove", function (e) {
    if (!drag || e.pointerId !== drag.pointer) return;
    if (!drag.moved && Math.abs(e.clientX - drag.x) < NEAR) return; // a click chooses nothing
    drag.moved = true;
    brush.classList.add("dragging");
    var at = timeAt(e);
    show(drag.end ? drag.before[drag.end === "from" ? "to" : "from"] : drag.anchor, at);
  });
  function finish(keep) {
    if (!drag) return;
    var done = drag;
    drag = null;
    brush.classList.remove("dragging");
    if (!keep) show(done.before.from, done.before.to);
    else if (done.moved) send();
  }
  brush.addEventListener("pointerup", function (e) { if (drag && e.pointerId === drag.pointer) finish(true); });
  brush.addEventListener("pointercancel", function () { finish(false); });
  document.addEventListener("keydown", function (e) { if (e.key === "Escape") finish(false); });
  brush.addEventListener("dblclick", function () {
    show(stops ? stops[0] : first, stops ? stops[stops.length - 1] : last);
    send();
  });

  // ---- what was outstanding where the pointer is ----
  var hair = brush.querySelector(".hair"), readout = document.getElementById("readout");
  var lanes = Array.prototype.map.call(document.querySelectorAll("[data-lane]"), function (lane) {
    return { name: lane.dataset.lane, at: lane.dataset.values.split(" ").map(function (v) { return v.split(",").map(Number); }) };
  });
  // stretchAt is the last stretch of a line that begins at or before a place along the width.
  function stretchAt(list, x) {
    var low = 0, high = list.length;
    while (low + 1 < high) {
      var middle = (low + high) >> 1;
      if (list[middle][0] <= x) low = middle; else high = middle;
    }
    return list[low];
  }
  if (readout) brush.addEventListener("pointermove", function (e) {
    if (drag || e.pointerType === "touch") { readout.hidden = true; return; }
    var box = body.getBoundingClientRect(), part = Math.max(0, Math.min(1, (e.clientX - box.left) / box.width));
    hair.setAttribute("x1", part * 100 + "%");
    hair.setAttribute("x2", part * 100 + "%");
    readout.textContent = "";
    var time = document.createElement("b");
    time.textContent = seconds(Math.round((first + part * (last - first)) / step) * step) + " s";
    readout.appendChild(time);
    lanes.forEach(function (lane) {
      var v = stretchAt(lane.at, part * 1000), line = document.createElement("div");
      line.textContent = lane.name + " " + heapdriftSize(v[1]) + (v[2] ? ", at most " + heapdriftSize(v[2]) : "");
      readout.appendChild(line);
    });
    readout.hidden = false;
    var left = box.left - brush.parentNode.getBoundingClientRect().left + part * box.width;
    readout.style.left = (part > 0.6 ? left - readout.offsetWidth - 12 : left + 12) + "px";
  });
  if (readout) brush.addEventListener("pointerleave", function () { readout.hidden = true; });

  // stopFrom is where a key leads that means by or, for the ends, to: to another snapshot, one or ten further.
  function stopFrom(from, by, to) {
    var step = Math.max(1, Math.round(by / keyStep)), far = Math.abs(to - from) > by ? 10 : 0;
    if (to === first) return stops[0];
    if (to === last) return stops[stops.length - 1];
    var at = stopAt(from) + (to > from ? 1 : -1) * Math.max(step, far);
    return stops[Math.max(0, Math.min(stops.length - 1, at))];
  }

  // ---- the keys: arrows move an edge, with Shift far, Home and End to the ends ----
  Object.keys(edges).forEach(function (end) {
    var edge = edges[end], other = end === "from" ? "to" : "from";
    edge.setAttribute("role", "slider");
    edge.setAttribute("tabindex", "0");
    edge.setAttribute("aria-label", names[end]);
    edge.setAttribute("aria-valuemin", stops ? 1 : seconds(first));
    edge.setAttribute("aria-valuemax", stops ? stops.length : seconds(last));
    edge.addEventListener("keydown", function (e) {
      var by = keyStep * (e.shiftKey ? 10 : 1), to = now[end];
      if (e.key === "ArrowLeft" || e.key === "ArrowDown") to -= by;
      else if (e.key === "ArrowRight" || e.key === "ArrowUp") to += by;
      else if (e.key === "PageDown") to -= 10 * keyStep;
      else if (e.key === "PageUp") to += 10 * keyStep;
      else if (e.key === "Home") to = first;
      else if (e.key === "End") to = last;
      else return;
      e.preventDefault();
      if (stops) to = stopFrom(now[end], by, to);
      to = clamp(to);
      now[end] = end === "from" ? Math.min(to, now[other]) : Math.max(to, now[other]);
      typed = {};
      draw();
      clearTimeout(timer);
      timer = setTimeout(send, 400); // a held key asks once
    });
  });

  // ---- the fields: an answer to what was asked before does not write over what is typed ----
  document.addEventListener("input", function (e) { if (!stops && edges[e.target.id]) typed[e.target.id] = true; });
  document.addEventListener("submit", function () { typed = {}; });

  // ---- what the server answers is what the chart shows ----
  function follow() {
    var shown = document.getElementById(stops ? "window" : "totals");
    if (!shown || drag || timer) return; // a key was pressed meanwhile: what it asks for is about to be sent
    var read = function (end) { return stops ? Number(shown.dataset[end]) : Math.round(shown.dataset[end] * 1e9); };
    now = { from: read("from"), to: read("to") };
    draw();
  }
  // Where it answers with an error, the numbers stay those of the window before.
  ["htmx:afterSettle", "htmx:responseError", "htmx:sendError"].forEach(function (e) { document.addEventListener(e, follow); });
  draw();
})();
