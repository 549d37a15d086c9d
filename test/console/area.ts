import type { TestServer } from "@svc/testing/server";
import type { Page } from "playwright-core";

/** A page of the console that is checked in light colours, in dark colours and on a phone. */
export type LookedAt = {
  /** Name of the page's pictures and of its snapshot, in kebab-case. */
  name: string;
  /** Returns the page's path below that of the project, such as `events?range=1h`. Gets the ids that the seed returned. */
  path: (ids: Readonly<Record<string, string>>) => string;
  /** Resolves when the page shows the content to be checked. */
  shows: (page: Page) => Promise<unknown>;
};

/** A part of the console: its pages, and a seed that fills the service with the data they show and returns ids for their paths. */
export type Area = {
  seed: (svc: TestServer) => Promise<Record<string, string>>;
  pages: readonly LookedAt[];
};
