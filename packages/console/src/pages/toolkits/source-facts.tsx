import type { ToolkitSource } from "@svc/gen/catalog";
import { Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { visible } from "../../words/text.ts";
import { counted, sourceWords } from "../../words/toolkits.ts";

/** Draws where a toolkit (the tools of one app) comes from, when its source was last read, and why it could not be read since then. */
export function SourceFacts({ source }: { source: ToolkitSource }) {
  const { kind, origin, refreshedAt, nextRefreshAt, lastError, overrides, listingAccountId } = source;
  return (
    <Stack>
      <Facts
        facts={[
          ["Source", sourceWords(kind)],
          ["Address", origin === "" ? "none: it was a file" : <bdi key="origin">{visible(origin)}</bdi>],
          ["Last read", <Time key="read" at={refreshedAt} />],
          ["Reads it again", nextRefreshAt === undefined ? "only by hand" : <Time key="next" at={nextRefreshAt} />],
          ["Lists its tools with", kind === "mcp" ? listingAccountId || "the first active account" : undefined],
          ["Own choices", overrides.length === 0 ? undefined : `${counted(overrides.length, "tool name or pattern")}`],
        ]}
      />
      {lastError !== "" && (
        <Notice tone="bad" title="The source could not be read the last time.">
          <p>{visible(lastError)}</p>
        </Notice>
      )}
    </Stack>
  );
}
