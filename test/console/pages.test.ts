import { beforeAll, describe, expect } from "vitest";
import type { Area, LookedAt } from "./area.ts";
import { jobs } from "./areas/jobs.ts";
import { settings } from "./areas/settings.ts";
import { tools } from "./areas/tools.ts";
import { triggers } from "./areas/triggers.ts";
import { browserTest, startConsole } from "./browser.ts";
import { lookAt } from "./look.ts";
import { cutOffAtDouble, shiftMax, shiftOf } from "./stands.ts";

/** The parts of the console whose pages are checked. A new part adds its line here; a new page is added to its part. */
const areas: Record<string, Area> = { triggers, tools, settings, jobs };

const consoles = startConsole({ isOnePage: true });
/** The path that uses each title, to find a title used twice. */
const titled = new Map<string, string>();

describe.each(Object.entries(areas))("%s", (_, { seed, pages }) => {
  let ids: Record<string, string> = {};
  beforeAll(async () => {
    if (consoles.isStarted) ids = await seed(consoles.svc);
  });

  const open = async ({ path, shows }: LookedAt) => {
    const { page } = await consoles.open({ path: `p/${consoles.projectId}/${path(ids)}` });
    await shows(page);
    return page;
  };

  browserTest.each(pages)("$name has no barrier, in light, in dark and on a phone", async (looked) => {
    await lookAt(await open(looked), looked.name);
  });

  browserTest.each(pages)(
    "$name has a title of its own, is not cut off at 200 %, and nothing of it jumps while it loads",
    async (looked) => {
      const page = await open(looked);
      const path = new URL(page.url()).pathname;
      const title = await page.title();
      expect(title).toMatch(/.+ · svc$/);
      expect(titled.get(title) ?? path).toBe(path);
      titled.set(title, path);
      // Jumps depend on which answer comes first, so a page that jumped is measured up to two more times.
      let shift = await shiftOf(page);
      for (let again = 0; again < 2 && shift > shiftMax; again += 1) shift = await shiftOf(await open(looked));
      expect(shift).toBeLessThanOrEqual(shiftMax);
      expect(await cutOffAtDouble(page)).toEqual([]);
    },
  );
});
