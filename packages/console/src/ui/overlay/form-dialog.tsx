import type { ReactNode } from "react";
import { Button } from "../buttons/button.tsx";
import { FormFrame } from "../fields/form-frame.tsx";
import { Line } from "../layout/stack.tsx";
import { FaultNotice } from "../notice/fault.tsx";
import { Dialog } from "./dialog.tsx";

/**
 * A dialog with a form, whose button or the Enter key makes one call. A press outside the dialog does not close it. `act`: label of the
 * button. `busy`: its label while the call is in progress, else undefined. `error`: the error of the call, shown below the fields.
 */
export function FormDialog({
  title,
  act,
  busy,
  error,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  act: string;
  busy: string | undefined;
  error: unknown;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog open onClose={onClose} title={title} hideOnInteractOutside={false}>
      <FormFrame onSubmit={onSubmit}>
        {children}
        <FaultNotice error={error} />
        <Line>
          <Button kind="primary" type="submit" busy={busy}>
            {act}
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </Line>
      </FormFrame>
    </Dialog>
  );
}
