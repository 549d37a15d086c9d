import type { Page } from "playwright-core";

/**
 * Watches a page for what no test may see: a violation of the policy, an error of the page, an unexpected answer, a request that failed, or
 * one to another host than that of the page.
 */
export type PageFaults = {
  /** What was seen so far, a line each. */
  readonly seen: string[];
  /** Answers of this status are expected from now on; 0 stands for requests that get none. */
  expectStatus(status: number): void;
  /** Requests to another origin are expected from now on: where the page leads away. */
  expectOrigin(origin: string): void;
};

/** Begins to watch a page of the service at `origin`. */
export function watchFaults(page: Page, origin: string): PageFaults {
  const seen: string[] = [];
  const expected = new Set<number>();
  const origins = new Set([origin]);
  page.on("pageerror", (error) => seen.push(`page error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // Told by the response itself, too, and there it can be expected.
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) seen.push(`console: ${text}`);
  });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (/^https?:$/.test(asked.protocol) && !origins.has(asked.origin))
      seen.push(`asked of another host: ${request.url()}`);
  });
  page.on("response", (response) => {
    const status = response.status();
    if (status >= 400 && !expected.has(status)) seen.push(`${status} ${response.url()}`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    // The page gave it up itself: it went elsewhere, or asked for something else.
    if (why !== "net::ERR_ABORTED" && !expected.has(0)) seen.push(`${why} ${request.url()}`);
  });
  return {
    seen,
    expectStatus: (status) => void expected.add(status),
    expectOrigin: (other) => void origins.add(other),
  };
}
