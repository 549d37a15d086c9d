import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { Moment } from "./moment.tsx";

/** Draws a time that the service returned. `none`: the text that is drawn if there is no time. */
export function Time({ at, none = "never" }: { at: Timestamp | number | undefined; none?: string }) {
  if (at === undefined) return <span>{none}</span>;
  return <Moment at={typeof at === "number" ? at : timestampMs(at)} />;
}
