import "../ui/tokens.css";
import "../ui/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { applyTheme } from "../shell/preferences.ts";
import { loadParts, whenIdle } from "../ui/overlay/later.ts";
import { enterPortal } from "./session.ts";
import { PortalStart } from "./start.tsx";

applyTheme();
// Runs before and outside rendering, because the link must be removed from the address before other code runs.
void enterPortal();
// A link that is opened in an open page changes only the fragment of the address; the browser loads nothing.
window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#link=")) void enterPortal();
});

const place = document.getElementById("root");
if (place === null) throw new Error("portal.html has no element with the id root");
createRoot(place).render(
  <StrictMode>
    <PortalStart />
  </StrictMode>,
);
whenIdle(() => void loadParts());
