import { isCelError, parse, plan } from "@bufbuild/cel";
import { celTime } from "./conversions.ts";
import { meteredEnv } from "./evaluation.ts";

const hours = plan(meteredEnv, parse("time.getHours(zone)"));
const time = celTime(0);

/** Those that there are, as far as they were asked for: there are some 600 names and 6,000 offsets. */
const known = new Set<string>();

/** Whether expressions take a text for a time zone: a name of the IANA database, or an offset. */
export function isZone(text: string): boolean {
  if (known.has(text)) return true;
  const traces = Error.stackTraceLimit;
  // Of one that is none the error is a value, whose trace takes longer than all the rest.
  Error.stackTraceLimit = 0;
  try {
    const found = !isCelError(hours({ time, zone: text }));
    if (found) known.add(text);
    return found;
  } finally {
    Error.stackTraceLimit = traces;
  }
}

let places: ReadonlyMap<string, string> | undefined;

/** The zone whose place somebody named alone, such as Europe/Berlin for Berlin; undefined where there is none. */
export function zoneNamed(place: string): string | undefined {
  places ??= new Map(Intl.supportedValuesOf("timeZone").map((name) => [placeOf(name), name]));
  return places.get(place.trim().toLowerCase().replaceAll(" ", "_"));
}

function placeOf(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).toLowerCase();
}
