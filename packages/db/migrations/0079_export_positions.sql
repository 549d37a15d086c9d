CREATE TABLE "export_positions" (
	"stream" text NOT NULL,
	"project_id" uuid NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "export_positions_key" PRIMARY KEY("stream","project_id")
);
