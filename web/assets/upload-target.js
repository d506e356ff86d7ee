// Where the last uploads went: the form offers it. What the address says goes before it, and a field that was left empty
// or is emptied stays empty.
(function () {
  "use strict";
  var KEPT = "heapdrift-targets", NAMES = ["project", "build", "scenario"], MOST = 8;

  // uploadTarget fills the form in. It returns remember(values), for the target of an upload.
  window.uploadTarget = function (form) {
    var targets = read(), note = document.getElementById("remembered"), given = new URLSearchParams(location.search);
    // The last upload that the address does not speak against: another project's build helps nobody.
    var last = targets.find(function (t) { return NAMES.every(function (n) { return !given.has(n) || given.get(n) === t[n]; }); });
    if (last && form.dataset.fresh !== undefined) fill();
    offer();

    function fill() {
      NAMES.forEach(function (n) {
        if (given.has(n) || !last[n]) return;
        form.elements[n].value = last[n];
        note.hidden = false;
      });
    }
    function offer() {
      NAMES.forEach(function (n) {
        var values = targets.map(function (t) { return t[n]; }).filter(function (v, i, all) { return v && all.indexOf(v) === i; });
        document.getElementById("l-" + n).replaceChildren.apply(document.getElementById("l-" + n), values.map(function (v) { return new Option(v, v); }));
      });
    }
    form.addEventListener("change", function (e) {
      if (!last || NAMES.indexOf(e.target.name) < 0 || e.target.value !== "") return;
      last[e.target.name] = "";
      write();
    });
    document.getElementById("forget-target").addEventListener("click", function () {
      NAMES.forEach(function (n) { if (!given.has(n)) form.elements[n].value = ""; });
      targets = [];
      last = null;
      write();
      offer();
      note.hidden = true;
      form.elements.project.focus();
      form.dispatchEvent(new Event("input"));
    });

    function read() {
      try {
        var list = JSON.parse(localStorage.getItem(KEPT));
        return Array.isArray(list) ? list.filter(function (t) { return t && typeof t.project === "string"; }) : [];
      } catch (e) { return []; } // forbidden, or not written here
    }
    function write() {
      try { localStorage.setItem(KEPT, JSON.stringify(targets)); } catch (e) { /* full, or forbidden */ }
    }
    return function remember(values) {
      var target = {};
      NAMES.forEach(function (n) { target[n] = values[n] || ""; });
      var text = JSON.stringify(target);
      targets = [target].concat(read().filter(function (t) { return JSON.stringify(t) !== text; })).slice(0, MOST);
      last = target;
      write();
      offer();
    };
  };
})();
