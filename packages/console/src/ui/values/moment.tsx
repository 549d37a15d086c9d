import { isoTime, readTime } from "@svc/core/time";
import { useNow } from "../../clock.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { clockWords, relativeWords, zoneName } from "../../words/time.ts";

/**
 * A time, given in epoch milliseconds or RFC 3339. A time less than a day away is shown relative to now, any other time as date and time.
 * The tooltip shows both and the time zone. A text that is not a time is shown unchanged.
 */
export function Moment({ at }: { at: number | string }) {
  const { zone } = usePreferences();
  const now = useNow();
  const ms = typeof at === "number" ? at : readTime(at);
  if (ms === undefined) return at;
  const absolute = clockWords(ms, zone);
  const relative = relativeWords(ms, now);
  return (
    <time
      dateTime={isoTime(ms)}
      title={`${absolute} ${zoneName(zone)}${relative === undefined ? "" : `, ${relative}`}`}
    >
      {relative ?? absolute}
    </time>
  );
}
