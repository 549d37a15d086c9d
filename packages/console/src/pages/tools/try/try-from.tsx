import { useQuery } from "@connectrpc/connect-query";
import { parseExactJson } from "@svc/core/exact-json";
import type { Tool } from "@svc/gen/catalog";
import { ToolsService } from "@svc/gen/tools";
import { readSchema } from "../../../form/read-schema.ts";
import { valuesOf, withoutSecrets } from "../../../form/value.ts";
import { Skeleton } from "../../../ui/notice/empty.tsx";
import { FaultNotice } from "../../../ui/notice/fault.tsx";
import type { ToolSearch } from "../filters.ts";
import { type KeptInput, keptInput } from "./kept-input.ts";
import { TryIt } from "./try-it.tsx";

/** "Try it", filled with the arguments of a call of the ledger where the address names one, else with what was filled in last. */
export function TryFrom({
  projectId,
  tool,
  search,
  onChange,
}: {
  projectId: string;
  tool: Tool;
  search: ToolSearch;
  onChange: (to: ToolSearch) => void;
}) {
  const { from = "" } = search;
  const earlier = useQuery(ToolsService.method.getToolCall, { id: from }, { enabled: from !== "" });
  const shape = readSchema(tool.inputSchemaJson, tool.accessClass === "destructive" ? ["confirm"] : []);
  if (from !== "" && earlier.isPending) return <Skeleton rows={12} />;
  const call = earlier.data?.call;
  // What is masked in the ledger is no argument: it has to be filled in anew.
  const ofCall: KeptInput | undefined = call && {
    entity: call.entityId,
    values: withoutSecrets(shape, valuesOf(readJson(call.argumentsJson))),
  };
  return (
    <>
      <FaultNotice error={earlier.error} />
      <TryIt
        projectId={projectId}
        tool={tool}
        shape={shape}
        initial={ofCall ?? keptInput(projectId, tool.slug)}
        search={search}
        onChange={onChange}
      />
    </>
  );
}

function readJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    // A call whose arguments were not kept.
    return {};
  }
}
