import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { type PreviewStandingProgramResponse, StandingService } from "@svc/gen/standing";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Fault, failureOf } from "../../calls/fault.ts";
import { useSettled } from "../../clock.ts";
import { definitionText } from "./definition-text.ts";
import type { Draft } from "./draft.ts";
import { type DefinitionFaults, placeDefinitionFaults } from "./draft-faults.ts";
import type { Json } from "./draft-json.ts";

/** So long after the last key it is checked. */
const restMs = 350;
const previewedRuns = 5;

type Verdict = { preview?: PreviewStandingProgramResponse; faults: readonly Fault[] };

/** What the service says of what is written. */
export type ScheduleCheck = {
  /** The definition that is written now, as it would be sent. */
  definitionJson: string;
  /** Undefined before the first answer, and while there are faults. */
  preview: PreviewStandingProgramResponse | undefined;
  faults: DefinitionFaults;
  /** Whether it is about what is written now. */
  isCurrent: boolean;
  /** What the check itself failed with; null for nothing. */
  error: unknown;
  retry: () => void;
};

/**
 * Has the service check a definition as it is written, by its preview. A program that is no JSON cannot stand in a definition: it is checked by
 * itself, as on the page of a new program.
 */
export function useScheduleCheck(draft: Draft, programText: string, kept: Json): ScheduleCheck {
  const transport = useTransport();
  const definitionJson = definitionText(draft, programText, kept);
  const checked = useSettled(definitionJson, restMs);
  const checkedProgram = useSettled(programText, restMs);
  const { previewStandingProgram } = StandingService.method;
  const isJson = isJsonText(checkedProgram);
  const input = { definitionJson: checked, count: previewedRuns };
  const check = useQuery({
    queryKey: [
      ...createConnectQueryKey({ schema: previewStandingProgram, transport, input, cardinality: "finite" }),
      isJson ? "" : checkedProgram,
    ],
    queryFn: async ({ signal }): Promise<Verdict> => {
      if (!isJson) {
        const answer = await callUnaryMethod(
          transport,
          JobsService.method.checkProgram,
          { programJson: checkedProgram },
          { signal },
        );
        const field = (of: string) => of.replace(/^programJson/, "definitionJson/program");
        return {
          faults: answer.faults.map((fault) => ({
            reason: fault.reason,
            field: field(fault.field),
            help: `${fault.message}: ${fault.help}`,
          })),
        };
      }
      try {
        return { preview: await callUnaryMethod(transport, previewStandingProgram, input, { signal }), faults: [] };
      } catch (error) {
        const faults = failureOf(error).faults.filter(({ field }) => field.startsWith("definitionJson"));
        if (ConnectError.from(error).code !== Code.InvalidArgument || faults.length === 0) throw error;
        return { faults };
      }
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  const found = check.data?.faults;
  const faults = useMemo(
    () => placeDefinitionFaults(draft.by, checkedProgram, found ?? []),
    [draft.by, checkedProgram, found],
  );
  return {
    definitionJson,
    preview: check.data?.preview,
    faults,
    isCurrent: checked === definitionJson && check.isSuccess && !check.isPlaceholderData,
    error: check.error,
    retry: () => void check.refetch(),
  };
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
