// What runs beside viser's page: which panels are seen, files dropped on it, texts copied.
// `GIVEN` are the widgets that it speaks to and the style; it may come again after a reconnection.
const given = GIVEN;
const first = !window.closedformStudio;
const studio = window.closedformStudio = Object.assign(window.closedformStudio || {}, given);
studio.told = null;
if (first) studio.tab = given.asked;               // the tab of the link, then the one last opened

const send = message => {
  const page = window.__viserMutable;
  if (!page || !page.sendMessage) return false;
  page.sendMessage(message);
  return true;
};

function isSeen(panel) {
  const box = panel.parentElement.getBoundingClientRect();
  return box.height > 0 && box.bottom > 0 && box.top < innerHeight && panel.checkVisibility();
}

// The server makes only the panels that are seen.
function tellSeen() {
  const panels = document.hidden ? [] : [...document.querySelectorAll("[data-panel]")];
  const seen = panels.filter(isSeen).map(panel => panel.dataset.panel).sort().join(" ") || "-";
  if (seen !== studio.told && send({type: "GuiUpdateMessage", uuid: studio.seen,
                                    updates: {value: seen}})) studio.told = seen;
}

async function upload(file) {
  const part = 512 * 1024, transfer = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const about = {source_component_uuid: studio.upload, transfer_uuid: transfer};
  send({type: "FileTransferStartUpload", ...about, filename: file.name, mime_type: file.type,
        part_count: Math.ceil(file.size / part), size_bytes: file.size});
  if (file.size > studio.largest) return;          // the server has said no to its name and size
  for (let k = 0; k * part < file.size; k++)
    send({type: "FileTransferPart", ...about, part_index: k, content: new Uint8Array(
      await file.slice(k * part, (k + 1) * part).arrayBuffer())});
}

// A page that is not from this machine has no clipboard: the text is marked there.
async function copy(button) {
  const text = button.closest("[data-panel]").querySelector(button.dataset.copy);
  getSelection().selectAllChildren(text);
  if (navigator.clipboard) await navigator.clipboard.writeText(text.textContent);
  else document.execCommand("copy");
  button.textContent = "copied";
}

// viser draws on for 250 ms after each change. Where a processor draws, no time is left for the
// numbers: a frame for the change (React asks for its own) and a last one are enough.
function drawLess() {
  const page = window.__viserMutable, node = page && page.scene && page.scene.__r3f;
  const three = node && node.root && node.root.getState();
  if (!three || page.requestRender === studio.draw) return;
  const gl = three.gl.getContext(), told = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  if (!/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name)) return;
  let last = 0;
  studio.draw = page.requestRender = () => {
    if (page.getRenderRequestState === "ready" && page.messageQueue.length)
      page.drainMessageQueue();          // now, so that numbers never wait for a frame
    three.invalidate();
    clearTimeout(last);
    last = setTimeout(() => three.invalidate(), 250);
  };
}

function clicked(event) {
  const at = event.target.closest && event.target.closest("[data-copy], [data-told]");
  if (at && at.dataset.copy) copy(at);
  if (at && at.dataset.told)
    at.closest("[data-panel]").querySelector(at.dataset.told).textContent = at.title;
  const tab = event.target.closest && event.target.closest("[role=tab]");
  if (tab) studio.tab = tab.textContent.trim();
  setTimeout(tellSeen, 50);
}

// The tab of a link, or the one that was open before a reconnection, when it is there.
function openTab(tries) {
  const tab = [...document.querySelectorAll("[role=tab]")].find(
    x => x.textContent.trim() === studio.tab);
  if (!tab && tries) setTimeout(openTab, 100, tries - 1);
  for (const kind of tab ? ["pointerdown", "pointerup", "click"] : [])
    tab.dispatchEvent(new PointerEvent(kind, {bubbles: true, pointerId: 1}));
}

studio.open = tab => { studio.tab = tab; openTab(0); setTimeout(tellSeen, 50); };
drawLess();
if (studio.tab) openTab(100);
if (first) {
  document.hasFocus = () => !document.hidden;      // viser reconnects while a tab has the focus
  const later = window.setTimeout;       // viser holds what a slider sends for 50 ms
  window.setTimeout = (act, pause, ...rest) => later(act, pause === 50 ? 16 : pause, ...rest);
  const style = document.head.appendChild(document.createElement("style"));
  style.textContent = studio.style;
  setInterval(tellSeen, 300);
  document.addEventListener("visibilitychange", tellSeen);
  document.addEventListener("click", clicked);
  document.addEventListener("dragover", event => event.preventDefault());
  document.addEventListener("drop", event => {
    event.preventDefault();
    if (studio.upload && event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
  });
}
