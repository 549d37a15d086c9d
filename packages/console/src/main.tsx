import "./ui/tokens.css";
import "./ui/base.css";
import "./shell/early.css";
import { Code, ConnectError } from "@connectrpc/connect";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./routes.ts";
import { enter } from "./session/enter.ts";
import { type PageRefusal, postPage } from "./session/page-post.ts";
import { whenBack } from "./session/reachability.ts";
import { refreshSeats } from "./session/refresh.ts";
import { currentSession, type Seat } from "./session/session.ts";
import { setLinkOffer, setLinkRefusal, useSignInNeed } from "./session/sign-in-need.ts";
import { applyTheme } from "./shell/preferences.ts";
import { laterPart } from "./ui/later-part.tsx";
import { loadParts, whenIdle } from "./ui/overlay/later.ts";

const LinkOfferDialog = laterPart(() => import("./session/link-offer.tsx"));

const repeated: readonly Code[] = [Code.Unavailable, Code.Unknown, Code.DeadlineExceeded];
const triesMax = 3;

/**
 * Creates the console's cache of the service's answers. A failed read is tried up to three times if its error can be temporary. A read that
 * still failed is made again as soon as another call succeeds. Writes are never retried.
 */
function createQueryClient(): QueryClient {
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 300_000,
        retry: (failures, error) => failures < triesMax - 1 && repeated.includes(ConnectError.from(error).code),
        retryDelay: (failures) => 500 * 2 ** failures,
        // Makes calls even if the browser reports that it is offline. If the service cannot be reached, the page shows this and keeps
        // trying.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
  whenBack(() => void queries.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" }));
  return queries;
}

applyTheme();
// Runs before and outside rendering, because a link works only once, and must be removed from the address before other code runs.
setLinkRefusal(await enterByLink());
watchLinks(setLinkRefusal);
// The stored seats (the keys of this browser) are from the last visit. Roles and names may have changed since. The page does not wait for
// the new ones.
void refreshSeats();

const place = document.getElementById("root");
if (place === null) throw new Error("index.html has no element with the id root");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <RouterProvider router={router} />
      <LinkOffer />
    </QueryClientProvider>
  </StrictMode>,
);

whenIdle(() => void loadParts());

/** Draws the question of a sign-in link to another project. It is rare, so its dialog is loaded when it is needed. */
function LinkOffer() {
  const { linkOffer } = useSignInNeed();
  return <Suspense>{linkOffer !== undefined && <LinkOfferDialog onClose={() => setLinkOffer(undefined)} />}</Suspense>;
}

/**
 * Signs in with the sign-in link in the browser's address (`#link=…`), if there is one. `#half=…` is the end of a sign-in with a company
 * account. Returns the error if the service refuses the link.
 *
 * First removes the link from the address and the history. A link works only once, so this function runs before React renders the page,
 * which may happen twice.
 *
 * Any website can open such a link in a browser. Therefore, if a user is already signed in, a link to a different project needs
 * confirmation. The pages of all projects look the same, so the user could enter data into the wrong project.
 */
async function enterByLink(): Promise<PageRefusal | undefined> {
  const [, name, link] = /^#(link|half)=([\w.~-]+)$/.exec(location.hash) ?? [];
  if (link === undefined) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (name === "half") return enter({ half: link });
  const seats = currentSession()?.seats ?? [];
  if (seats.length === 0) return enter({ link });
  const looked = await postPage("session", { link, look: true });
  if ("refusal" in looked) return looked.refusal;
  const { seat } = looked.answer as { seat: Seat };
  if (seats.some(({ projectId }) => projectId === seat.projectId)) return enter({ link });
  const take = async () => {
    setLinkOffer(undefined);
    setLinkRefusal(await enter({ link }));
  };
  setLinkOffer({ seat, take });
  return undefined;
}

/**
 * Handles sign-in links that the user opens while the console is already open in the tab. The browser then changes only the part of the
 * address after `#` and does not load the console again, so this function watches the address.
 */
function watchLinks(onRefusal: (refusal: PageRefusal | undefined) => void): void {
  window.addEventListener("hashchange", () => {
    void enterByLink().then(onRefusal);
  });
}
