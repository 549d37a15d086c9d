import { useQuery } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { keepPreviousData } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { useSettled } from "../../calls/settled.ts";
import type { JsonWriteHandle } from "../../ui/code/json-write.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CheckResult } from "./check-result.tsx";
import { placeProgramFaults } from "./faults.ts";
import { SubmitButtons } from "./submit-buttons.tsx";

const JsonWrite = lazy(() => import("../../ui/code/json-write.tsx"));

/** So long after the last key the program is checked. */
const restMs = 350;

/** The editor of a program, what the service says of what stands in it, and the ways to run it. */
export function ProgramEditor({ initial, projectId }: { initial: string; projectId: string }) {
  // Only what it begins with is given: a job that is read again while somebody writes changes nothing.
  const [begun] = useState(initial);
  const [text, setText] = useState(initial);
  const editor = useRef<JsonWriteHandle>(null);
  const checked = useSettled(text, restMs);
  const check = useQuery(
    JobsService.method.checkProgram,
    { programJson: checked },
    { placeholderData: keepPreviousData, staleTime: 0 },
  );
  const faults = useMemo(() => placeProgramFaults(checked, check.data?.faults ?? []), [checked, check.data]);
  const marks = useMemo(() => faults.map(({ mark }) => mark), [faults]);
  const isCurrent = checked === text && check.isSuccess && !check.isPlaceholderData;
  return (
    <Columns>
      <Section title="Program">
        <Suspense fallback={<Skeleton rows={12} />}>
          <JsonWrite initial={begun} label="Program" marks={marks} onChange={setText} handle={editor} />
        </Suspense>
      </Section>
      <Stack>
        <SubmitButtons
          text={text}
          projectId={projectId}
          why={!isCurrent ? "The program is being checked" : faults.length > 0 ? "Mend what is wrong first" : undefined}
        />
        <FaultNotice error={check.error} onRetry={() => void check.refetch()} />
        {check.data !== undefined && (
          <CheckResult
            answer={check.data}
            faults={faults}
            isCurrent={isCurrent}
            onGoTo={(offset) => editor.current?.goTo(offset)}
          />
        )}
      </Stack>
    </Columns>
  );
}
