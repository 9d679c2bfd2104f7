// The setting in the page's address, behind its "#": a link is a setting, a reload loses nothing.
function render({ model }) {
  if (!model.get("is_served")) return; // in a notebook the address is the notebook's
  let written = null;
  const write = () => {
    const setting = model.get("setting"), bare = location.pathname + location.search;
    written = setting;
    history.replaceState(history.state, "", setting ? `${bare}#${setting}` : bare);
  };
  const read = () => {
    const setting = location.hash.slice(1);
    if (setting !== written && setting !== model.get("setting")) model.send({ what: "setting", setting });
  };
  if (location.hash.length > 1) read();
  model.on("change:setting", write);
  window.addEventListener("hashchange", read);
  return () => {
    model.off("change:setting", write);
    window.removeEventListener("hashchange", read);
  };
}

export default { render };
