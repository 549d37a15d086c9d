import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { useNow } from "../clock.ts";
import { usePreferences } from "../shell/preferences.ts";
import { clockWords, relativeWords, zoneName } from "../words/time.ts";

/** A time: relative within a day, absolute beyond; its title has both and the zone. `none` stands where there is no time. */
export function Time({ at, none = "never" }: { at: Timestamp | number | undefined; none?: string }) {
  const { zone } = usePreferences();
  const now = useNow();
  if (at === undefined) return <span>{none}</span>;
  const ms = typeof at === "number" ? at : timestampMs(at);
  const absolute = clockWords(ms, zone);
  const relative = relativeWords(ms, now);
  return (
    <time
      dateTime={new Date(ms).toISOString()}
      title={`${absolute} ${zoneName(zone)}${relative === undefined ? "" : `, ${relative}`}`}
    >
      {relative ?? absolute}
    </time>
  );
}
