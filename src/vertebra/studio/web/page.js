// What the studio adds to viser's page: each window finds its own studio; files may be dropped anywhere, and files that
// are too large stay where they are.
(() => {
  "use strict";

  const limit = Number(document.querySelector('meta[name="vertebra-upload-limit"]').content);
  const NOTE_MS = 8000;

  // Viser's client also loads a sorter for Gaussian splats, which builds functions from text. The policy of this page
  // does not allow that and the studio draws no splats, so the sorter stays unloaded.
  const fetchAnything = window.fetch.bind(window);
  window.fetch = (resource, ...options) =>
    String(resource).startsWith("data:application/wasm") ? new Promise(() => {}) : fetchAnything(resource, ...options);

  // Each window has a studio of its own, and finds it again by this name when it is reloaded. A duplicated window gets
  // the name too, but sees that it is in use; a window that is closed releases it.
  const NAME = "vertebra-window";
  const USED = "vertebra-window-used";
  const visit = document.currentScript.nonce;
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)));
  let name = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    if (!sessionStorage.getItem(USED)) name = sessionStorage.getItem(NAME) ?? name;
    const use = () => {
      sessionStorage.setItem(NAME, name);
      sessionStorage.setItem(USED, "yes");
    };
    use();
    addEventListener("pageshow", use);
    addEventListener("pagehide", () => sessionStorage.removeItem(USED));
  } catch {
    // Browsers may forbid storage: then a reload starts afresh.
  }

  // Viser's socket runs in a worker, which is told the address: the name goes there, and which page opened it.
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...options) {
    if (message?.type === "set_server")
      message = { ...message, server: `${message.server}/?window=${name}&page=${visit}` };
    return post.call(this, message, ...options);
  };

  // A state from the address is opened once: a reload keeps what was set since then.
  const address = new URL(location.href);
  if (address.searchParams.has("state")) {
    address.searchParams.delete("state");
    address.searchParams.delete("confirm");
    history.replaceState(null, "", address);
  }

  function element(id, role) {
    const made = document.createElement("div");
    made.id = id;
    made.hidden = true;
    made.setAttribute("role", role);
    document.body.append(made);
    return made;
  }

  // A line at the bottom of the page that goes away by itself; screen readers speak it.
  let noteTimer = 0;
  function tell(text) {
    const note = document.getElementById("vertebra-note") ?? element("vertebra-note", "alert");
    note.textContent = text;
    note.hidden = false;
    clearTimeout(noteTimer);
    noteTimer = setTimeout(() => (note.hidden = true), NOTE_MS);
  }

  // Why a file cannot be taken; empty when it can. The server refuses it too, but only after the page waits for it.
  function refusal(file) {
    if (file.size <= limit) return "";
    const size = (bytes) => `${(bytes / 1e6).toPrecision(3)} MB`;
    return `${file.name} has ${size(file.size)}; the studio takes files of up to ${size(limit)}.`;
  }

  // Chosen files: looked at before viser's own listener (on the root of the page) sees them.
  document.addEventListener(
    "change",
    (event) => {
      const file = event.target instanceof HTMLInputElement && event.target.type === "file" && event.target.files[0];
      if (!file || !refusal(file)) return;
      event.stopImmediatePropagation();
      tell(refusal(file));
      event.target.value = "";
    },
    true,
  );

  // Dropped files: handed to the upload button of the studio as if they had been chosen there.
  function handOver(file) {
    const input = document.querySelector('input[type="file"]');
    if (!input) return tell("There is no upload button on this page right now; the file was not taken.");
    const list = new DataTransfer();
    list.items.add(file);
    input.files = list.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  const carriesFiles = (event) => Array.from(event.dataTransfer?.types ?? []).includes("Files");

  function showOverlay(shown) {
    const overlay = document.getElementById("vertebra-drop") ?? element("vertebra-drop", "status");
    overlay.textContent = "Drop a robot file or a saved state";
    overlay.hidden = !shown;
  }

  addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault(); // without this the browser opens the file instead of the studio
    event.dataTransfer.dropEffect = "copy";
    showOverlay(true);
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) showOverlay(false); // it left the window, not only an element
  });
  addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    showOverlay(false);
    const files = Array.from(event.dataTransfer.files);
    if (files.length !== 1) return tell("Drop one file at a time.");
    handOver(files[0]);
  });
})();
