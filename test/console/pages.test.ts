import { beforeAll, describe } from "vitest";
import type { Area } from "./area.ts";
import { jobs } from "./areas/jobs.ts";
import { settings } from "./areas/settings.ts";
import { tools } from "./areas/tools.ts";
import { triggers } from "./areas/triggers.ts";
import { browserTest, startConsole } from "./browser.ts";
import { lookAt } from "./look.ts";

/** The parts of the console whose pages are looked at: a new part adds its line here, a new page one to its part. */
const areas: Record<string, Area> = { triggers, tools, settings, jobs };

const consoles = startConsole({ isOnePage: true });
describe.each(Object.entries(areas))("%s", (_, { seed, pages }) => {
  let ids: Record<string, string> = {};
  beforeAll(async () => {
    if (consoles.isStarted) ids = await seed(consoles.svc);
  });

  browserTest.each(pages)("$name has no barrier, in light, in dark and on a phone", async ({ name, path, shows }) => {
    const { page } = await consoles.open({ path: `p/${consoles.projectId}/${path(ids)}` });
    await shows(page);
    await lookAt(page, name);
  });
});
