import { sendAsPage } from "@svc/testing/console-session";
import type { TestServer } from "@svc/testing/server";

/** A browser as far as requests go: it keeps the cookies of each address, and follows redirects. */
export type TestBrowser = {
  /** Opens an address, or posts a form to it as a page of the same site, and returns the last answer and its address, with the fragment. */
  open(
    address: string,
    form?: Record<string, string>,
  ): Promise<{ readonly url: string; readonly answer: Response; readonly text: string }>;
  /** Returns the Cookie header for an address. */
  cookiesFor(address: string): string;
  /** Sets what the browser sends as cookies to an address. */
  keep(address: string, cookies: ReadonlyMap<string, string>): void;
};

const redirectsMax = 12;

/** Returns a browser without cookies. */
export function createBrowser(): TestBrowser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (address: string) => {
    const { origin } = new URL(address);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const cookiesFor = (address: string) => [...jarOf(address)].map(([name, value]) => `${name}=${value}`).join("; ");
  const note = (address: string, answer: Response) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0\b/i.test(line)) jarOf(address).delete(name);
      else jarOf(address).set(name, value);
    }
  };
  return {
    cookiesFor,
    keep: (address, cookies) => void jars.set(new URL(address).origin, new Map(cookies)),
    async open(address, form) {
      let url = address;
      for (let count = 0; count < redirectsMax; count++) {
        const cookie = cookiesFor(url);
        const posted = form !== undefined && count === 0 && { method: "POST", body: new URLSearchParams(form) };
        const headers = { cookie, ...(posted && { origin: new URL(url).origin }) };
        const answer = await fetch(url, { redirect: "manual", headers, ...posted });
        note(url, answer);
        const to = answer.headers.get("location");
        if (to === null) return { url, answer, text: await answer.text() };
        await answer.body?.cancel();
        url = new URL(to, url).href;
        if (new URL(url).pathname.startsWith("/console/")) return { url, answer, text: "" };
      }
      throw new Error(`${address} redirects too often`);
    },
  };
}

/** A session of a person in the console. */
export type PersonSession = {
  readonly half: string;
  readonly cookie: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the page answers
  readonly seats: readonly any[];
  /** Makes a call as a page of the console. `seat`: id of a seat's key, or `admin`. Default: the first seat. */
  call(method: string, body?: unknown, seat?: string): ReturnType<typeof sendAsPage>;
  /** Sends a request to `/console/session`. */
  session(body?: unknown, method?: string): ReturnType<typeof sendAsPage>;
};

/** Signs a browser in with the company account that the provider now uses, and opens the console. Throws an Error if that fails. */
export async function signIn(
  svc: Pick<TestServer, "url">,
  browser: TestBrowser = createBrowser(),
  form?: Record<string, string>,
): Promise<PersonSession> {
  const { url, text } = await browser.open(`${svc.url}/sign-in/start`, form);
  const half = new URL(url).hash.replace(/^#half=/, "");
  if (half === "") throw new Error(`not signed in at ${url}: ${text}`);
  return openSession(svc, half, browser.cookiesFor(svc.url));
}

async function openSession(svc: Pick<TestServer, "url">, half: string, cookie: string): Promise<PersonSession> {
  const headers = { cookie, "svc-session": half };
  const session: PersonSession["session"] = (body = {}, method = "POST") =>
    sendAsPage(svc, "/console/session", body, { method, headers });
  const { json } = await session();
  return {
    ...{ half, cookie, seats: json.seats, session },
    call: (method, body = {}, seat = json.seats[0]?.keyId ?? "") =>
      sendAsPage(svc, `/svc.v1.${method}`, body, { headers: { ...headers, "svc-seat": seat } }),
  };
}
