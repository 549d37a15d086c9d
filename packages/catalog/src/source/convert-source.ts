import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ToolkitSource } from "@svc/db/catalog/sources";
import type { ToolkitChangesSchema, ToolkitSourceSchema } from "@svc/gen/catalog";
import { readDifferences } from "./compare-texts.ts";
import { readOptions } from "./source-options.ts";

/** Returns the source of a toolkit in the form of the API. A query in its address may contain a key, so it is left out. */
export function sourceMessage(source: ToolkitSource): MessageInitShape<typeof ToolkitSourceSchema> {
  const { only, except, overrides } = readOptions(source.options);
  return {
    kind: source.kind,
    origin: source.origin.replace(/[?#].*$/s, ""),
    refreshedAt: timestampFromMs(source.refreshedAt),
    lastError: source.lastError,
    only: [...only],
    except: [...except],
    overrides: [...overrides],
    ...(source.nextAt !== null && { nextRefreshAt: timestampFromMs(source.nextAt) }),
  };
}

/** Returns stored changes of a source in the form of the API. */
export function changesMessage(changes: string, digest: string): MessageInitShape<typeof ToolkitChangesSchema> {
  const { added, gone, altered, leftOff, originBefore, originAfter, count } = readDifferences(changes);
  return {
    digest,
    added: added.map(({ isFlagged, ...tool }) => ({ ...tool, flagged: isFlagged })),
    gone: [...gone],
    altered: altered.map(({ isBreaking, isFlagged, ...part }) => ({
      ...part,
      breaking: isBreaking,
      flagged: isFlagged,
    })),
    alteredLeftOff: leftOff,
    originBefore,
    originAfter,
    count,
  };
}
