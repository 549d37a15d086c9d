// Runs in the page of an invitation. Puts the token of the address into the form, and removes it from the address and the history.
{
  const token = /^#([\w-]{20,100})$/.exec(location.hash)?.[1] ?? "";
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname);
  document.querySelector("[name=invitation]").value = token;
  document.querySelector("form").hidden = token === "";
  document.querySelector("#missing").hidden = token !== "";
}
