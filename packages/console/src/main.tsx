import "./ui/tokens.css";
import "./ui/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./calls/query-client.ts";
import { router } from "./routes.ts";
import { enterByLink, watchLinks } from "./session/link.ts";
import { LinkOfferDialog } from "./session/link-offer.tsx";
import { refreshSeats } from "./session/refresh.ts";
import { setLinkRefusal } from "./session/sign-in-need.ts";
import { applyTheme } from "./shell/preferences.ts";

applyTheme();
// Outside of what renders, and before it: a link is spent once, and must not be in the address when anything else runs.
setLinkRefusal(await enterByLink());
watchLinks(setLinkRefusal);
// What is kept of the seats is from the last time: roles and names may be others by now. The page does not wait for it.
void refreshSeats();

const place = document.getElementById("root");
if (place === null) throw new Error("index.html has no element with the id root");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <RouterProvider router={router} />
      <LinkOfferDialog />
    </QueryClientProvider>
  </StrictMode>,
);
