import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ToolkitSource } from "@svc/db/catalog/sources";
import type { ToolkitBindingSchema, ToolkitChangesSchema, ToolkitSourceSchema } from "@svc/gen/catalog";
import type { ToolkitBinding } from "../bound/binding.ts";
import { readDifferences } from "./compare-texts.ts";
import { readOptions } from "./source-options.ts";

/**
 * Returns the source of a toolkit (such as an OpenAPI document) in the form of the API. Leaves out the query of its address, because it may
 * contain a key. `binding`: the project's settings, if the toolkit is its copy of a shared toolkit.
 */
export function sourceMessage(
  source: ToolkitSource,
  binding: ToolkitBinding | undefined,
): MessageInitShape<typeof ToolkitSourceSchema> {
  const { only, except, overrides, isTrusted } = readOptions(source.options);
  return {
    kind: source.kind,
    origin: source.origin.replace(/[?#].*$/s, ""),
    refreshedAt: timestampFromMs(source.refreshedAt),
    lastError: source.lastError,
    only: [...only],
    except: [...except],
    overrides: [...overrides],
    trust: isTrusted === true,
    listingAccountId: source.listingAccountId ?? "",
    ...(source.nextAt !== null && { nextRefreshAt: timestampFromMs(source.nextAt) }),
    ...(binding && { binding: bindingMessage(binding) }),
  };
}

/** Returns the binding of a shared toolkit in the form of the API. */
function bindingMessage({ overlay, values, ...texts }: ToolkitBinding): MessageInitShape<typeof ToolkitBindingSchema> {
  const overlayJson = Object.keys(overlay).length === 0 ? "" : JSON.stringify(overlay);
  return { ...texts, values: { ...values }, overlayJson };
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
