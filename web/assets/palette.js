// The search of all pages: Ctrl K opens it, typing fills it, the arrows walk through what was found.
(function () {
  "use strict";
  var dialog = document.getElementById("palette");
  if (!dialog || !dialog.showModal) return;
  var field = dialog.querySelector("input"), typed, asked = 0;

  function open() {
    if (!dialog.open) dialog.showModal();
    field.select();
  }
  document.addEventListener("keydown", function (e) {
    if ((e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && e.key.toLowerCase() === "k") { e.preventDefault(); open(); }
  });
  document.addEventListener("click", function (e) {
    if (e.target === dialog) dialog.close(); // beside the box
    if (!e.target.closest("[data-palette]") || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
    e.preventDefault();
    open();
  });

  function links() { return Array.prototype.slice.call(dialog.querySelectorAll("#found a")); }
  dialog.addEventListener("keydown", function (e) {
    var all = links(), at = all.indexOf(document.activeElement);
    if (e.key === "ArrowDown" && all.length) all[Math.min(at + 1, all.length - 1)].focus();
    else if (e.key === "ArrowUp" && at >= 0) (at ? all[at - 1] : field).focus();
    else if (e.key === "Enter" && e.target === field && all.length && !typed) location.href = all[0].href;
    else return;
    e.preventDefault();
  });

  // An answer may come when the arrows have left the field: they stay at the link where they stood, or at the first.
  function show(html) {
    var at = links().indexOf(document.activeElement) < 0 ? "" : document.activeElement.href;
    dialog.querySelector("#found").outerHTML = html;
    if (!at) return;
    var all = links();
    (all.filter(function (a) { return a.href === at; })[0] || all[0] || field).focus();
  }

  // What was typed last is what is shown, whichever answer comes first.
  function ask() {
    var turn = ++asked;
    fetch("/search?q=" + encodeURIComponent(field.value), { headers: { "HX-Request": "true" } }).then(function (res) {
      if (!res.ok) throw new Error(res.status);
      return res.text();
    }).then(function (html) {
      if (turn !== asked) return;
      typed = 0;
      show(html);
    }).catch(function () {
      if (turn === asked) dialog.querySelector("#found").textContent = "The server does not answer. Press Enter to try its page.";
      typed = 0;
    });
  }
  field.addEventListener("input", function () {
    clearTimeout(typed);
    typed = setTimeout(ask, 120);
  });
})();
