CREATE TABLE "erasure_programs" (
	"erasure_id" uuid NOT NULL,
	"digest" "bytea" NOT NULL,
	CONSTRAINT "erasure_programs_key" PRIMARY KEY("erasure_id","digest")
);
