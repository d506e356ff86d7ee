// What the list of files says of each: its state in a few words, and what there is to know beyond that.
(function () {
  "use strict";
  var pace = window.uploadPace;

  // status is a file's state in a few words.
  function status(item) {
    var all = item.file.size;
    switch (item.state) {
      case "ready": return heapdriftSize(all);
      case "unfit": return "not evidence";
      case "sending": return item.metered ? pace.words(item.meter, item.sent, all, all - item.sent, performance.now()) : "asks the server";
      case "retrying": return "tries again";
      case "offline": return "offline";
      case "elsewhere": return "another tab sends it";
      case "done": return heapdriftSize(all) + ", taken";
      case "failed": return "not taken";
    }
    return item.state; // waiting, paused
  }
  // detail is what there is to know beyond that.
  function detail(item) {
    var all = heapdriftSize(item.file.size), sent = heapdriftSize(item.sent) + " of " + all;
    switch (item.state) {
      case "sending": return [item.note, item.metered && sent + " are sent; a reload or a lost line goes on from there."];
      case "paused": return [item.note, sent + " are sent."];
      case "offline": return [item.note, sent + " are sent. It goes on by itself when the browser is online again."];
      case "retrying": return [item.note, sent + " are sent. " + sentence(item.why.because.text) + " The next try is in " + pace.time(item.why.seconds).replace("about ", "") + "."];
      case "elsewhere": return ["The upload continues here if that tab is closed."];
    }
    return [];
  }
  function sentence(text) {
    text = text.charAt(0).toUpperCase() + text.slice(1);
    return /[.!?]$/.test(text) ? text : text + ".";
  }

  window.uploadWords = { status: status, detail: detail };
})();
