import type { Page } from "playwright-core";

/**
 * Watches a page for faults that no test may cause: a violation of the content security policy, a script error, an unexpected status, a
 * failed request, or a request to another host.
 */
export type PageFaults = {
  /** The faults so far, a line each. */
  readonly seen: string[];
  /** Expects answers of this status from now on. 0 means requests that get no answer. */
  expectStatus(status: number): void;
  /** Expects requests to another origin from now on, for a page that leads there. */
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
    // A failed load is reported by the response as well, where the test can expect it.
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
    // The page itself aborted this request, because it went to another path or asked for other data.
    if (why !== "net::ERR_ABORTED" && !expected.has(0)) seen.push(`${why} ${request.url()}`);
  });
  return {
    seen,
    expectStatus: (status) => void expected.add(status),
    expectOrigin: (other) => void origins.add(other),
  };
}
