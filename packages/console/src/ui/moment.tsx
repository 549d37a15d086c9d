import { useNow } from "../clock.ts";
import { usePreferences } from "../shell/preferences.ts";
import { clockWords, relativeWords, zoneName } from "../words/time.ts";

/** A time in milliseconds: relative within a day, absolute beyond; its title has both and the zone. */
export function Moment({ at }: { at: number }) {
  const { zone } = usePreferences();
  const absolute = clockWords(at, zone);
  const relative = relativeWords(at, useNow());
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={`${absolute} ${zoneName(zone)}${relative === undefined ? "" : `, ${relative}`}`}
    >
      {relative ?? absolute}
    </time>
  );
}
