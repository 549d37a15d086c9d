import { isoTime, readTime } from "@svc/core/time";
import type { TimeSpan } from "../../words/spans.ts";
import { clockWords, type Zone } from "../../words/time.ts";
import { inputClass } from "./field.tsx";

/** Draws the fields for the start and the end of a time range, in the console's time zone. An emptied field removes its limit. */
export default function SpanEnds({
  span,
  zone,
  onChange,
}: {
  span: TimeSpan;
  zone: Zone;
  onChange: (span: TimeSpan) => void;
}) {
  return (
    <>
      <Instant label="From" at={span.since} zone={zone} onChange={(since) => onChange({ since })} />
      <Instant label="To" at={span.until} zone={zone} onChange={(until) => onChange({ until })} />
    </>
  );
}

function Instant({
  label,
  at,
  zone,
  onChange,
}: {
  label: string;
  at: string | undefined;
  zone: Zone;
  onChange: (at: string | undefined) => void;
}) {
  const ms = readTime(at ?? "");
  return (
    <input
      type="datetime-local"
      className={inputClass}
      aria-label={label}
      title={label}
      value={ms === undefined ? "" : clockWords(ms, zone).slice(0, 16).replace(" ", "T")}
      onChange={({ target: { value } }) => {
        const given = readTime(`${value}:00Z`);
        // The field shows the time of the display. A shift by the zone's offset gives the time itself.
        onChange(given === undefined ? undefined : isoTime(given + (given - clockMs(given, zone))));
      }}
    />
  );
}

/** Returns the time that the display shows for a time, read as if it were in UTC. */
function clockMs(at: number, zone: Zone): number {
  return readTime(`${clockWords(at, zone).replace(" ", "T")}Z`) ?? at;
}
