import type { TestServer } from "@svc/testing/server";
import type { Page } from "playwright-core";

/** A page that is looked at in light, in dark and on a phone. */
export type LookedAt = {
  /** Names its pictures and its snapshot; kebab-case. */
  name: string;
  /** Its path below that of the project, such as `events?range=1h`, given what the seed answered. */
  path: (ids: Readonly<Record<string, string>>) => string;
  /** Resolves when the page shows what is to be looked at. */
  shows: (page: Page) => Promise<unknown>;
};

/** A part of the console: its pages, and what fills the service with what they show; that answers ids for their paths. */
export type Area = {
  seed: (svc: TestServer) => Promise<Record<string, string>>;
  pages: readonly LookedAt[];
};
