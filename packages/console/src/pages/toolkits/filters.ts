import type { Toolkit } from "@svc/gen/catalog";
import { listParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { sourceKinds } from "../../words/toolkits.ts";

/** Filters in the address of the page that lists toolkits (apps with their tools). */
export const toolkitsSearch = listParams(
  {
    /** Text that the name or the slug contains. */
    q: textParam,
    source: oneOfParam(sourceKinds),
    /** `waiting`: only toolkits whose source has changed. */
    changes: oneOfParam(["waiting"]),
  },
  {},
);

/** The search parameters of the list of toolkits. */
type ToolkitsSearch = ReturnType<typeof toolkitsSearch.read>;

/** Returns the toolkits that pass the filters: those with changes first, then the project's own, then the shared ones. */
export function matchingToolkits(toolkits: readonly Toolkit[], { q = "", source, changes }: ToolkitsSearch): Toolkit[] {
  const text = q.toLowerCase();
  const rank = ({ changesWaiting, sourceKind }: Toolkit) => (changesWaiting > 0 ? 0 : sourceKind !== "" ? 1 : 2);
  return toolkits
    .filter(
      ({ name, slug, sourceKind, changesWaiting }) =>
        `${name} ${slug}`.toLowerCase().includes(text) &&
        (source === undefined || source === (sourceKind || "svc")) &&
        (changes === undefined || changesWaiting > 0),
    )
    .toSorted((one, other) => rank(one) - rank(other));
}
