export { cellMapLines } from "./cell-map.ts";
export { cancelMove, type MoveFaultPoint, type MoveOptions, moveProject, removeMoved } from "./move-project.ts";
export { openMove, plainError } from "./open-move.ts";
