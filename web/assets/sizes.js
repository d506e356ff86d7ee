// How scripts print sizes: as the tables do, with three digits, 1 KB = 1,024 bytes.
(function () {
  "use strict";
  window.heapdriftSize = function (bytes) {
    var units = ["B", "KB", "MB", "GB", "TB"], unit = 0, n = Math.abs(bytes);
    while (n >= (unit ? 999.5 : 1024) && unit < units.length - 1) { n /= 1024; unit++; }
    var digits = unit ? n.toFixed(n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2) : Math.round(n).toLocaleString("en-US");
    return (bytes < 0 ? "−" : "") + digits + " " + units[unit];
  };
})();
