// Runs in the page that approves the sign-in of a program. Puts the code of the address into the form, and removes it from the address.
{
  const code = /^#([A-Z-]{8,9})$/.exec(location.hash)?.[1];
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname);
  if (code !== undefined) document.querySelector("[name=code]").value = code;
  const isIn = !document.querySelector("#signed-in").hidden;
  document.querySelector("#signed-out").hidden = isIn;
}
