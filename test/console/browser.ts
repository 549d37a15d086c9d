import { signInToConsole } from "@svc/testing/console-session";
import { repeats } from "@svc/testing/sample";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { browserArguments, browserTestsPlan, findChromium, noChromium } from "./chromium.ts";
import { type PageFaults, watchFaults } from "./faults.ts";
import { calendarSecret } from "./post-calendar.ts";

const executable = findChromium();
const plan = browserTestsPlan(executable);

/** A test in a browser. Without a Chromium it is skipped; in CI it fails. */
export const browserTest: typeof test = plan === "skip" ? (test.skip as typeof test) : test;

/** One that `npm run test:crash` runs, where the file has the machine to itself: what it takes of one that others use as well says little. */
export const wholeBrowserTest: typeof test = repeats({ sample: test.skip as typeof test, whole: browserTest });

const wide = { width: 1280, height: 800 };

/** A page of the console in a browser of its own: cookies and storage are shared with no other test. */
export type ConsolePage = { readonly page: Page; readonly faults: PageFaults };

/** Who looks, and at what. */
export type Looking = {
  /** Path below the console, such as `p/prj_…/events`; that of the project unless stated. */
  path?: string;
  /** The key that is signed in; that of the project unless stated, null for nobody. */
  key?: string | null;
  /** A context of an earlier page, as for a second tab of the same browser. */
  context?: BrowserContext;
  /** As narrow as a phone, pressed with a finger. */
  isPhone?: boolean;
};

/** The service and the browser of a test file. */
export type ConsoleTests = {
  /** False where there is no browser, and the tests are skipped. */
  readonly isStarted: boolean;
  /** The service; it listens from before the first test on. */
  readonly svc: TestServer;
  readonly projectId: string;
  /** Opens a page and waits for its heading. It is closed, and its faults fail the test, at the test's end. */
  open(looking?: Looking): Promise<ConsolePage>;
};

/**
 * Starts one real service and one Chromium for a test file, before its first test. `variables` are set over those of every service of the
 * console's tests; `seed` fills it. `isOnePage`: for tests that only look: they look at one page, led from place to place, since a
 * window of its own takes more of the processor than what it shows.
 */
export function startConsole(
  options: { variables?: Record<string, string>; seed?: (svc: TestServer) => Promise<void>; isOnePage?: boolean } = {},
): ConsoleTests {
  let svc: TestServer | undefined;
  let projectId = "";
  let kept: ConsolePage | undefined;
  const opened: ConsolePage[] = [];
  const sessions = new Map<string, ReturnType<typeof storageOf>>();
  const service = () => svc ?? fail("the service was not started");

  beforeAll(async () => {
    if (plan === "fail") throw new Error(`These tests need a browser: ${noChromium}.`);
    if (executable === undefined) return;
    svc = await startTestServer({
      variables: {
        SVC_SANDBOX: "force",
        SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret,
        SVC_LOG_LEVEL: "info",
        ...options.variables,
      },
    });
    ({ projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json);
    await options.seed?.(svc);
  });
  afterEach(async ({ task }) => {
    const pages = opened.splice(0);
    const seen = pages.flatMap(({ faults }) => faults.seen.splice(0));
    const contexts = new Set(pages.filter(({ page }) => page !== kept?.page).map(({ page }) => page.context()));
    const isPassed = task.result?.state !== "fail";
    await Promise.all(Array.from(contexts, (context) => (isPassed ? putBack(context) : context.close())));
    expect(seen).toEqual([]);
  });
  afterAll(async () => {
    await kept?.page.context().close();
    await svc?.stop();
  });

  /** A page in a browser that has the session of this key and keeps nothing else. */
  async function freshPage({ key = service().key, isPhone = false }: Looking): Promise<Page> {
    const page = await takePage(isPhone);
    if (key !== null && !sessions.has(key)) sessions.set(key, storageOf(service().url, key));
    const session = key === null ? undefined : await sessions.get(key);
    await page.context().clearCookies();
    if (session !== undefined) await page.context().addCookies(session.cookies);
    // Of the service's origin, and without scripts of its own.
    await page.goto(`${service().url}/healthz`);
    await page.evaluate(
      `sessionStorage.clear(); localStorage.clear(); Object.assign(localStorage, ${JSON.stringify(session?.kept ?? {})})`,
    );
    return page;
  }

  return {
    get isStarted() {
      return svc !== undefined;
    },
    get svc() {
      return service();
    },
    get projectId() {
      return projectId;
    },
    async open({ path = `p/${projectId}`, context, ...looking } = {}) {
      const shown = kept ?? watch(await (context === undefined ? freshPage(looking) : newPage(context)), service().url);
      if (options.isOnePage === true) kept = shown;
      opened.push(shown);
      // Whoever looked before has left it as narrow as a phone.
      if (shown === kept) await shown.page.setViewportSize(wide);
      await shown.page.goto(`${service().url}/console/${path}`);
      await shown.page.getByRole("heading", { level: 1 }).first().waitFor();
      return shown;
    },
  };
}

/** One for the files of a worker: to start it takes as long as some of them. It ends with the worker. */
let browser: Promise<Browser> | undefined;

function startBrowser(): Promise<Browser> {
  if (executable === undefined) throw new Error("no browser was found");
  return chromium.launch({ executablePath: executable, args: browserArguments() });
}

/**
 * Pages that no test uses, wide ones and those of a phone, each in a browser of its own: to open one starts a process, which compiles all that the
 * console is made of.
 */
const idle: Record<"wide" | "phone", Page[]> = { wide: [], phone: [] };
const phones = new WeakSet<BrowserContext>();
const phoneSize = { width: 390, height: 844 };

async function takePage(isPhone: boolean): Promise<Page> {
  const taken = idle[isPhone ? "phone" : "wide"].pop();
  if (taken !== undefined) return taken;
  browser ??= startBrowser();
  const context = await (await browser).newContext({
    viewport: isPhone ? phoneSize : wide,
    hasTouch: isPhone,
    reducedMotion: "reduce",
  });
  if (isPhone) phones.add(context);
  return newPage(context);
}

/** Leaves one page of a test's browser for others, without what the test has set there. Its session goes when it is taken. */
async function putBack(context: BrowserContext): Promise<void> {
  if (context.isClosed()) return;
  const [page, ...others] = context.pages();
  await Promise.all(others.map((other) => other.close()));
  if (page === undefined) return context.close();
  for (const event of ["pageerror", "console", "request", "response", "requestfailed"]) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.goto("about:blank");
  const isPhone = phones.has(context);
  await page.setViewportSize(isPhone ? phoneSize : wide);
  idle[isPhone ? "phone" : "wide"].push(page);
}

async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  // Ends what hangs: a machine with other work takes ten times as long.
  page.setDefaultTimeout(60_000);
  return page;
}

function watch(page: Page, url: string): ConsolePage {
  return { page, faults: watchFaults(page, new URL(url).origin) };
}

/** What a browser keeps of a sign-in: the cookie, and the half that the page holds. Made over the service's own sign-in, once for a key. */
async function storageOf(url: string, key: string) {
  const { cookie, half, seats } = await signInToConsole({ url }, { key });
  const { hostname } = new URL(url);
  const [name = "", value = ""] = cookie.split("=");
  return {
    cookies: [
      {
        name,
        value,
        domain: hostname,
        path: "/",
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: "Strict" as const,
      },
    ],
    kept: { "svc-session": JSON.stringify({ half, seats }) },
  };
}

function fail(why: string): never {
  throw new Error(why);
}
