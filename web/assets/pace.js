// How fast files go up, how long that still takes, and how both are written. Figures are averages over some seconds, so
// that they can be read; where too little is known for a figure there is none.
(function () {
  "use strict";
  var WINDOW = 15000, SETTLED = 3000; // ms: what an average is over; how much of it must be there

  // A meter is told how many bytes have gone by a time, in ms of any clock that does not jump.
  function meter() {
    var samples = []; // the last WINDOW, and one before it
    function prune(now) {
      while (samples.length > 1 && samples[1].at <= now - WINDOW) samples.shift();
    }
    return {
      sent: function (bytes, now) {
        samples.push({ at: now, bytes: bytes });
        prune(now);
      },
      // reset forgets what was: after a break the time without a line must not count.
      reset: function () { samples = []; },
      // speed is in bytes a second up to now, so that it falls while nothing goes; null where it is not known yet.
      speed: function (now) {
        prune(now);
        var first = samples[0], last = samples[samples.length - 1];
        if (!first || now - first.at < SETTLED) return null;
        return (last.bytes - first.bytes) / (now - first.at) * 1000;
      },
      // left is how many seconds the rest takes at this speed; null where that is not known.
      left: function (rest, now) {
        var speed = this.speed(now);
        return speed ? rest / speed : null;
      }
    };
  }

  // time writes seconds, no finer than they can be known.
  function time(s) {
    if (s < 1) return "less than 1 s";
    if (s < 10) return "about " + Math.round(s) + " s";
    if (s < 57.5) return "about " + 5 * Math.round(s / 5) + " s";
    var minutes = Math.round(s / 60);
    if (minutes < 60) return "about " + minutes + " min";
    if (minutes < 24 * 60) return "about " + Math.floor(minutes / 60) + " h" + (minutes % 60 ? " " + minutes % 60 + " min" : "");
    return "more than a day";
  }
  // percent rounds down: 100 % is said when all is there.
  function percent(sent, all) { return all ? Math.floor(100 * sent / all) : 0; }

  // words are the figures of a meter, "41 % · 18.4 MB/s · about 34 s left", of which those are left out that are not known.
  function words(meter, sent, all, rest, now) {
    var speed = meter.speed(now), left = meter.left(rest, now), parts = [percent(sent, all) + " %"];
    if (speed === 0 && rest > 0) parts.push("stands still"); // where all has gone, the server may take its time
    else if (speed) parts.push(heapdriftSize(speed) + "/s");
    if (left !== null && rest > 0) parts.push(time(left) + " left");
    return parts.join(" · ");
  }

  window.uploadPace = { meter: meter, time: time, percent: percent, words: words };
})();
