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

/** A test in a browser. It is skipped if the machine has no Chromium; in CI it fails then. */
export const browserTest: typeof test = plan === "skip" ? (test.skip as typeof test) : test;

/** A browser test that only `npm run test:crash` runs, because its measurements mean little while other tests use the machine. */
export const wholeBrowserTest: typeof test = repeats({ sample: test.skip as typeof test, whole: browserTest });

const wide = { width: 1280, height: 800 };

/** A page of the console in a browser context of its own, which shares cookies and storage with no other test. */
export type ConsolePage = { readonly page: Page; readonly faults: PageFaults };

/** Options for opening a page: the page, its key and its screen. */
export type Looking = {
  /** Path below the console, such as `p/prj_…/events`, or a whole address. Default: the path of the project. */
  path?: string;
  /** The key that is signed in. Default: that of the project. Null: nobody is signed in. */
  key?: string | null;
  /** Browser context of an earlier page, to open a second tab of the same browser. */
  context?: BrowserContext;
  /** True if the screen is as narrow as a phone's and has touch. */
  isPhone?: boolean;
};

/** The service and the browser of a test file. */
export type ConsoleTests = {
  /** False if there is no browser. The tests are skipped then. */
  readonly isStarted: boolean;
  /** The service. It listens before the first test starts. */
  readonly svc: TestServer;
  readonly projectId: string;
  /** Opens a page and waits for its heading. At the end of the test the page is closed, and its faults fail the test. */
  open(looking?: Looking): Promise<ConsolePage>;
};

/**
 * Starts one real service and one Chromium for a test file, before its first test. `variables` override the variables that all console
 * tests share. `seed` fills the service. `isOnePage` is for tests that only look at pages: they share one page, because opening a window
 * costs more processor time than showing another path.
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

  /** Opens a page in a browser context that has the session of this key and no other stored data. */
  async function freshPage({ key = service().key, isPhone = false }: Looking): Promise<Page> {
    const page = await takePage(isPhone);
    if (key !== null && !sessions.has(key)) sessions.set(key, storageOf(service().url, key));
    const session = key === null ? undefined : await sessions.get(key);
    await page.context().clearCookies();
    if (session !== undefined) await page.context().addCookies(session.cookies);
    // This page has the service's origin, whose storage is to be filled, and runs no scripts.
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
      // An earlier test may have left the shared page as narrow as a phone.
      if (shown === kept) await shown.page.setViewportSize(wide);
      await shown.page.goto(new URL(path, `${service().url}/console/`).href);
      await shown.page.getByRole("heading", { level: 1 }).first().waitFor();
      return shown;
    },
  };
}

/** One browser for all files of a test worker, because starting one takes as long as some of the files. It ends with the worker. */
let browser: Promise<Browser> | undefined;

function startBrowser(): Promise<Browser> {
  if (executable === undefined) throw new Error("no browser was found");
  return chromium.launch({ executablePath: executable, args: browserArguments() });
}

/**
 * Unused pages for later tests, wide ones and phone ones, each in a browser context of its own. They are kept because each new page starts
 * a process that compiles the whole console again.
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
    // Services with https use self-signed certificates in tests.
    ignoreHTTPSErrors: true,
  });
  if (isPhone) phones.add(context);
  return newPage(context);
}

/** Keeps one page of a test's browser context for later tests, without the test's settings. The next test replaces its session. */
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
  // The timeout is long because a busy machine takes ten times as long. It only ends a test that hangs.
  page.setDefaultTimeout(60_000);
  return page;
}

function watch(page: Page, url: string): ConsolePage {
  return { page, faults: watchFaults(page, new URL(url).origin) };
}

/**
 * Returns the data a browser stores after a sign-in: the cookie, and the half of the session that the page keeps. It signs in at the
 * service, once for each key.
 */
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
