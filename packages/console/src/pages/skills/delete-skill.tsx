import { JobsService } from "@svc/gen/jobs";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { seatFor, useSession } from "../../session/session.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";

/** Deletes a version of a skill, or all of it, once that was said again. */
export function DeleteSkill({ slug, version, projectId }: { slug: string; version: number; projectId: string }) {
  const [open, setOpen] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const seat = seatFor(useSession(), projectId);
  const remove = useWrite(JobsService.method.deleteSkill, {
    onSuccess: () => {
      announce("Deleted.");
      void navigate({ to: "/p/$projectId/skills", params: { projectId } });
      return queries.invalidateQueries();
    },
  });
  const why = seat?.role === "approver" ? undefined : "Only an approver's key deletes a skill";
  const busy = remove.isSending ? "Deleting" : undefined;
  return (
    <>
      <Button kind="danger" why={why} onPress={() => setOpen(true)}>
        Delete
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Delete skills.${slug}?`}
        actions={
          <>
            <Button onPress={() => setOpen(false)}>Keep it</Button>
            <Button kind="danger" busy={busy} onPress={() => remove.send({ slug, version })}>
              Delete version {version}
            </Button>
            <Button kind="danger" busy={busy} onPress={() => remove.send({ slug, version: 0 })}>
              Delete all versions
            </Button>
          </>
        }
      >
        <p>Jobs under way go on. Who calls it gets the newest version that is left, or that there is none.</p>
        <FaultNotice error={remove.error} />
      </Dialog>
    </>
  );
}
