import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { type PreviewStandingProgramResponse, StandingService } from "@svc/gen/standing";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { failureOf, type WireFault } from "../../calls/fault.ts";
import { useSettled } from "../../clock.ts";

/** Time after the last change before the schedule's definition is checked, in milliseconds. */
const restMs = 250;

/** Number of next runs that the page of a schedule asks the service for. It is enough for a whole month of most schedules. */
export const previewedRuns = 100;

/** The result of the service's check of the schedule's definition that the user is editing. */
export type ScheduleCheck = {
  /** Answer of the preview call. Undefined before the first answer, and while the schedule's definition has errors. */
  readonly preview: PreviewStandingProgramResponse | undefined;
  /** Errors of the definition, each with the field `definitionJson` and the JSON Pointer of the wrong value. */
  readonly faults: readonly WireFault[];
  /** The text that was checked. */
  readonly checked: string;
  /** True if the check is about the current text of the schedule's definition. */
  readonly isCurrent: boolean;
  /**
   * Error of the preview call itself, for example if the service is unavailable. Null if the call succeeded. Errors in the schedule's
   * definition are not among these.
   */
  readonly error: unknown;
  readonly retry: () => void;
};

type Verdict = { preview?: PreviewStandingProgramResponse; faults: readonly WireFault[] };

/** Returns the service's check of a schedule's definition while the user edits it. */
export function useScheduleCheck(definitionJson: string): ScheduleCheck {
  const transport = useTransport();
  const checked = useSettled(definitionJson, restMs);
  const { previewStandingProgram: schema } = StandingService.method;
  const input = { definitionJson: checked, count: previewedRuns };
  const check = useQuery({
    queryKey: createConnectQueryKey({ schema, transport, input, cardinality: "finite" }),
    queryFn: async ({ signal }): Promise<Verdict> => {
      try {
        return { preview: await callUnaryMethod(transport, schema, input, { signal }), faults: [] };
      } catch (error) {
        const faults = failureOf(error).faults.filter(({ field }) => field.startsWith("definitionJson"));
        if (ConnectError.from(error).code !== Code.InvalidArgument || faults.length === 0) throw error;
        return { faults };
      }
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  return {
    preview: check.data?.preview,
    faults: check.data?.faults ?? [],
    checked,
    isCurrent: checked === definitionJson && check.isSuccess && !check.isPlaceholderData,
    error: check.error,
    retry: () => void check.refetch(),
  };
}
