import { useSyncExternalStore } from "react";
import { consoleBase } from "../session/base.ts";
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

/** A customer as the portal names it: the id that its project gave it, and the project with its name. */
type PortalCustomer = { projectId: string; entityId: string; projectName: string };

/**
 * State of the page. `opening`: the service has not answered yet. `asking`: the browser is signed in as another customer than the one of
 * the opened link, and the person has to choose. `open`: the customer is signed in. `closed`: no customer is signed in; the page shows why.
 */
export type PortalState =
  | { kind: "opening" }
  | ({ kind: "asking" } & ReplacedCustomer)
  | { kind: "open"; session: PortalSession }
  | ClosedPortal;

/**
 * Two customers: `from`, as which the browser is signed in, and `to`, to whom the opened link belongs. `link`: the secret of the opened
 * link.
 */
export type ReplacedCustomer = { from: PortalCustomer; to: PortalCustomer; link: string };

/**
 * State of the portal page while no customer is signed in. `refusal`: why svc refused the link. `by`: the session of another customer, who
 * signed in with another tab.
 */
export type ClosedPortal =
  | { kind: "closed"; why: "no link" | "ended" | "signed out" }
  | { kind: "closed"; why: "replaced"; by: PortalSession }
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

/** Returns the state of the portal page, such as signed in or refused, and updates the component when it changes. */
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
  if (link === undefined && readHalf() === "") return setState({ kind: "closed", why: "no link" });
  await openWith(link === undefined ? {} : { link });
}

/**
 * Ends the question if the customer of an opened portal link should replace the customer who is signed in. True: signs in as the link's
 * customer. False: the old customer stays signed in.
 */
export async function answerReplaced({ link, from }: ReplacedCustomer, isReplaced: boolean): Promise<void> {
  if (!isReplaced && !isAddressOf(from.projectId))
    return location.assign(new URL(`${from.projectId}/`, consoleBase).href);
  await openWith(isReplaced ? { link, replace: true } : {});
}

/**
 * Opens a session with a portal link, or continues the browser's session. If the link belongs to another customer, the person is asked
 * before the old session is replaced.
 */
async function openWith(body: { link?: string; replace?: boolean }): Promise<void> {
  setState({ kind: "opening" });
  const half = readHalf();
  const answer = await postPage("session", body, half === "" ? {} : headersOf(half));
  if ("refusal" in answer) {
    const { refusal } = answer;
    if (refusal.reason === "SESSION_INVALID") return leave("ended");
    return setState({ kind: "closed", why: "refused", refusal });
  }
  const found = answer.answer as PortalSession | { replaces: Omit<ReplacedCustomer, "link"> };
  if ("replaces" in found) return setState({ kind: "asking", ...found.replaces, link: body.link ?? "" });
  // The browser has a session of another project's portal. Its data do not belong to this address.
  if (!isAddressOf(found.seat.projectId)) return setState({ kind: "closed", why: "no link" });
  keepHalf(found.half);
  setState({ kind: "open", session: found });
}

/** True if the address of the page belongs to the portal of a project. */
function isAddressOf(projectId: string): boolean {
  return `${location.pathname}/`.includes(`/${projectId}/`);
}

/**
 * Closes a session that the service has refused. If another tab has opened a new session of the same customer, the page continues with
 * that.
 */
export async function leaveRefused({ half, seat }: PortalSession): Promise<void> {
  if (openSession()?.half !== half) return;
  const stored = readHalf();
  if (stored === half || stored === "") return leave("ended");
  setState({ kind: "opening" });
  const answer = await postPage("session", {}, headersOf(stored));
  if ("refusal" in answer) return setState({ kind: "closed", why: "ended" });
  const session = answer.answer as PortalSession;
  const isSame = session.seat.projectId === seat.projectId && session.seat.entityId === seat.entityId;
  setState(isSame ? { kind: "open", session } : { kind: "closed", why: "replaced", by: session });
}

/**
 * Removes the session from this browser. `why`: `ended` if the service has ended the session, `signed out` if the customer signed out. The
 * page then shows no data of the customer.
 */
function leave(why: "ended" | "signed out"): void {
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
