import { useSyncExternalStore } from "react";
import { type PageRefusal, postPage } from "../session/page-post.ts";

/** The session of a customer in the portal, as `/portal/session` returns it. */
export type PortalSession = {
  /** Half of the session's secret that the page keeps. The other half is a cookie that scripts cannot read. */
  half: string;
  /** Access of the link that opened the session. `readOnly`: true if the customer can change and send nothing. */
  seat: {
    keyId: string;
    projectId: string;
    projectName: string;
    entityId: string;
    readOnly: boolean;
    expiresAt: string;
  };
  /** Look of the portal. `color`: `#rrggbb`. `logo`: a data URL. Each may be empty. */
  portal: { name: string; color: string; logo: string };
};

/**
 * State of the page. `opening`: the service has not answered yet. `open`: the customer is signed in. `closed`: no customer is signed in;
 * the page shows why.
 */
export type PortalState = { kind: "opening" } | { kind: "open"; session: PortalSession } | ClosedPortal;

/** State of the page if no customer is signed in. `why`: the reason. `refusal`: the answer to the link that was opened. */
export type ClosedPortal =
  | { kind: "closed"; why: "no link" | "ended" | "signed out" }
  | { kind: "closed"; why: "refused"; refusal: PageRefusal };

const storedAs = "svc-portal";
const listeners = new Set<() => void>();
let state: PortalState = { kind: "opening" };

function setState(to: PortalState): void {
  state = to;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the state of the page, and updates the component when it changes. */
export function usePortalState(): PortalState {
  return useSyncExternalStore(subscribe, () => state);
}

function openSession(): PortalSession | undefined {
  return state.kind === "open" ? state.session : undefined;
}

/**
 * Signs in with the link in the browser's address (`#link=…`), which it first removes from the address and the history. Without a link,
 * continues the session that this browser has.
 */
export async function enterPortal(): Promise<void> {
  const link = takeLink();
  const half = readHalf();
  if (link === undefined && half === "") return setState({ kind: "closed", why: "no link" });
  setState({ kind: "opening" });
  const answer = await (link === undefined ? postPage("session", {}, headersOf(half)) : postPage("session", { link }));
  if ("refusal" in answer) {
    const { refusal } = answer;
    if (refusal.reason === "SESSION_INVALID") return leave("ended");
    return setState({ kind: "closed", why: "refused", refusal });
  }
  const session = answer.answer as PortalSession;
  // The browser has a session of another project's portal. Its data do not belong to this address.
  if (!`${location.pathname}/`.includes(`/${session.seat.projectId}/`))
    return setState({ kind: "closed", why: "no link" });
  keepHalf(session.half);
  setState({ kind: "open", session });
}

/** Forgets the session, because the service has ended it (`ended`) or the customer has (`signed out`). The page shows no more data. */
export function leave(why: "ended" | "signed out"): void {
  // Another tab of the browser may have opened another link meanwhile. That session stays.
  const own = openSession()?.half ?? readHalf();
  if (readHalf() === own) keepHalf("");
  setState({ kind: "closed", why });
}

/** Ends the session at the service and in this browser. */
export async function signOut(): Promise<void> {
  const session = openSession();
  if (session === undefined) return;
  leave("signed out");
  await postPage("session", {}, { method: "DELETE", ...headersOf(session.half) });
}

function headersOf(half: string) {
  return { headers: { "Svc-Portal-Session": half } };
}

function takeLink(): string | undefined {
  const link = /^#link=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (link !== undefined) history.replaceState(history.state, "", location.pathname + location.search);
  return link;
}

function readHalf(): string {
  try {
    return localStorage.getItem(storedAs) ?? "";
  } catch {
    // The browser's storage is not available, so the session lasts only while the page is open.
    return "";
  }
}

function keepHalf(half: string): void {
  try {
    if (half === "") localStorage.removeItem(storedAs);
    else localStorage.setItem(storedAs, half);
  } catch {
    // The browser's storage is not available, so the session lasts only while the page is open.
  }
}
