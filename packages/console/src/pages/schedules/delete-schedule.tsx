import { type StandingProgram, StandingService } from "@svc/gen/standing";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { CheckField } from "../../ui/field.tsx";

/** Asks before a schedule is deleted, since there is no way back. */
export function DeleteSchedule({
  program: { id, slug },
  projectId,
  onClose,
}: {
  program: StandingProgram;
  projectId: string;
  onClose: () => void;
}) {
  const [cancelRunning, setCancelRunning] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useWrite(StandingService.method.deleteStandingProgram, {
    onSuccess: async () => {
      announce("The schedule was deleted.");
      await navigate({ to: "/p/$projectId/schedules", params: { projectId } });
      await queries.invalidateQueries();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete the schedule ${slug}?`}
      actions={
        <>
          <Button onPress={onClose}>Keep it</Button>
          <Button
            kind="danger"
            busy={remove.isSending ? "Sending" : undefined}
            onPress={() => remove.send({ id, cancelRunning })}
          >
            Delete it
          </Button>
        </>
      }
    >
      <p>
        It starts nothing any more, for good, and runs of it that wait are skipped. Its jobs are still found by its id.
      </p>
      <CheckField
        label="Cancel its jobs under way"
        checked={cancelRunning}
        onChange={setCancelRunning}
        hint="Otherwise they go on."
      />
      <FaultNotice error={remove.error} />
    </Dialog>
  );
}
