"""A complete short paper, "Placement in six open GPUs", from runs to a PDF.

gathered(sweep, seeds)     the runs and the survey that it rests on, real traces where they are here  -> Evidence
write_paper(evidence, to)  bundles, tables, figures, text, bibliography                               -> Path
set_pdf(folder)            the PDF, or a sentence that says why there is none                         -> Typeset
"""

from workbench.paper.write import Evidence, Typeset, gathered, set_pdf, write_paper
