import { isCelError, parse, plan } from "@bufbuild/cel";
import { celTime } from "./cel-values.ts";
import { meteredEnv } from "./evaluation.ts";

const hours = plan(meteredEnv, parse("time.getHours(zone)"));
const time = celTime(0);

/** Those that there are, as far as they were asked for: there are some 600 names and 6,000 offsets. */
const known = new Set<string>();

/** Whether expressions take a text for a time zone: a name of the IANA database, or an offset. */
export function isZone(text: string): boolean {
  if (known.has(text)) return true;
  const found = !isCelError(hours({ time, zone: text }));
  if (found) known.add(text);
  return found;
}

/** The zone whose place somebody named alone, such as Europe/Berlin for Berlin; undefined where there is none. */
export function zoneNamed(place: string): string | undefined {
  const meant = place.trim().toLowerCase().replaceAll(" ", "_");
  return Intl.supportedValuesOf("timeZone").find((name) => name.toLowerCase().endsWith(`/${meant}`));
}
