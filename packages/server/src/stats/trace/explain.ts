import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Sealer } from "@svc/core";
import { Remedy } from "@svc/gen/failures";
import { ListFailuresRequestSchema, TraceRequestSchema } from "@svc/gen/stats";
import { type Explain, titleOfListed } from "@svc/node";
import { listFailures } from "../failures.ts";
import { readTrace, type TraceContext } from "./trace.ts";

/** Dependencies of explaining failures to agents. */
type ExplainContext = Omit<TraceContext, "titleOf"> & { readonly sealer: Sealer };

const hourMs = 3_600_000;

/** Returns the function that explains to agents why something failed. It gives them the chain of causes of a trace. */
export function createExplain(context: ExplainContext): Explain {
  const { clock, sealer } = context;
  return async (principal, given) => {
    const since = timestampFromMs(clock.now() - hourMs);
    const id = given ?? (await findLargest(context, principal.projectId, since));
    if (id === undefined) return [];
    const request = create(TraceRequestSchema, { id });
    const titleOf: TraceContext["titleOf"] = (job) => titleOfListed({ sealer }, job);
    const { why } = await readTrace({ ...context, titleOf }, principal, request);
    return why.map(({ nodeId, sentence, remedy }) => ({ id: nodeId, sentence, remedy: remedyWords(remedy) }));
  };
}

/** Returns the newest member of the largest group of failures. Undefined if nothing failed. */
async function findLargest(
  context: ExplainContext,
  projectId: Parameters<typeof listFailures>[1],
  since: ReturnType<typeof timestampFromMs>,
): Promise<string | undefined> {
  const { groups } = await listFailures(context, projectId, create(ListFailuresRequestSchema, { since }));
  return groups[0]?.newestId;
}

function remedyWords(remedy: Remedy): string {
  const [name = ""] = Object.entries(Remedy).find(([, value]) => value === remedy) ?? [];
  return remedy === Remedy.UNSPECIFIED ? "" : name.toLowerCase().replaceAll("_", " ");
}
