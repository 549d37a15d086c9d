// Runs in the page that asks who the person is. Offers the keys with which this browser is signed in to the console. Without this script,
// the page works too.
{
  const box = document.querySelector("#signed-in");
  const seats = document.querySelector("#signed-in select");
  const half = document.querySelector("#signed-in [name=half]");
  let session = {};
  try {
    session = JSON.parse(localStorage.getItem("svc-session") ?? "{}") ?? {};
  } catch {
    // The browser's storage may be switched off. Then the person types the key.
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
