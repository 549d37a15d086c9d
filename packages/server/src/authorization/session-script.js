// Run in the page that asks who the person is: offers the keys that this browser is signed in to the console with. The page works without it.
{
  const box = document.querySelector("#signed-in");
  const seats = document.querySelector("#signed-in select");
  const half = document.querySelector("#signed-in [name=half]");
  let session = {};
  try {
    session = JSON.parse(localStorage.getItem("svc-session") ?? "{}") ?? {};
  } catch {
    // Storage may be off: then the key is typed.
  }
  const open = Array.isArray(session.seats) ? session.seats.filter(({ projectId }) => projectId) : [];
  for (const { keyId, keyName, projectName } of open) {
    const option = document.createElement("option");
    option.value = keyId;
    option.textContent = `${keyName}, project ${projectName}`;
    seats.append(option);
  }
  if (open.length > 0 && typeof session.half === "string") {
    half.value = session.half;
    box.hidden = false;
  }
}
