package mlebench

import (
	"proctor/tasks/grade/metric"
)

// The plans of each family of graders.

func auroc(id string, columns ...string) *plan {
	return &plan{metric: "AUROC", higher: true, id: id, columns: columns,
		check: between(0, 1), score: onColumns(weightless(metric.MeanAUROC))}
}

func accuracy(id, column string) *plan {
	return &plan{metric: "accuracy", higher: true, id: id, columns: []string{column},
		score: onLabels(weightless(metric.Accuracy[string]), weightless(metric.Accuracy[float64]))}
}

func qwk(id, column string) *plan {
	return &plan{metric: "QWK", higher: true, id: id, columns: []string{column},
		score: onLabels(weightless(metric.QWK[string]), weightless(metric.QWK[float64]))}
}

func binaryLogLoss(id, column string) *plan {
	return &plan{metric: "log loss", id: id, columns: []string{column},
		check: between(0, 1), score: onNumbers(weightless(metric.LogLoss))}
}

// allClose is numpy's default relative tolerance with the 1e-6 that graders
// give as the absolute one.
const allClose = 1e-5 + 1e-6

func logLoss(id string, header headerRule, tolerance float64) *plan {
	return &plan{metric: "log loss", id: id, header: header,
		check: distributions(tolerance), score: onColumns(weightless(metric.LogLossColumns))}
}

func rmse(id, column string) *plan {
	return &plan{metric: "RMSE", id: id, columns: []string{column}, score: onNumbers(weightless(metric.RMSE))}
}

func mae(id, column string) *plan {
	return &plan{metric: "MAE", id: id, columns: []string{column}, score: onNumbers(weightless(metric.MAE))}
}

func macroF1(id, column string) *plan {
	return &plan{metric: "macro F1", higher: true, id: id, columns: []string{column},
		score: onIntegers(func(t, g []int) (float64, error) { return metric.F1(t, g, metric.Macro, nil) })}
}

func tagsF1(id, column string) *plan {
	return &plan{metric: "micro F1", higher: true, id: id, columns: []string{column}, gaps: true, score: onTags}
}

// with changes a plan in place, for what a competition does differently.
func (p *plan) with(change func(*plan)) *plan {
	change(p)
	return p
}

// plans returns, by competition, how it is graded in Go. Those that are not
// listed have graders of their own making and need Python.
func plans() map[string]*plan {
	unchecked := func(p *plan) { p.check = nil }
	asText := func(p *plan) { p.score, p.gaps = onText(weightless(metric.Accuracy[string])), true }
	return map[string]*plan{
		"aerial-cactus-identification":                        auroc("id", "has_cactus"),
		"aptos2019-blindness-detection":                       qwk("id_code", "diagnosis"),
		"denoising-dirty-documents":                           rmse("id", "value"),
		"detecting-insults-in-social-commentary":              auroc("Comment", "Insult"),
		"dog-breed-identification":                            logLoss("id", atLeast, allClose),
		"dogs-vs-cats-redux-kernels-edition":                  binaryLogLoss("id", "label"),
		"histopathologic-cancer-detection":                    auroc("id", "label"),
		"jigsaw-toxic-comment-classification-challenge":       jigsawToxic(),
		"leaf-classification":                                 logLoss("id", exactly, allClose),
		"mlsp-2013-birds":                                     auroc("Id", "Probability"),
		"new-york-city-taxi-fare-prediction":                  rmse("key", "fare_amount").with(func(p *plan) { p.ids = sorted }),
		"nomad2018-predict-transparent-conductors":            nomad(),
		"plant-pathology-2020-fgvc7":                          auroc("image_id").with(unchecked).with(func(p *plan) { p.header = exactly }),
		"random-acts-of-pizza":                                auroc("request_id", "requester_received_pizza"),
		"ranzcr-clip-catheter-line-classification":            ranzcr(),
		"siim-isic-melanoma-classification":                   auroc("image_name", "target"),
		"spooky-author-identification":                        logLoss("id", idFirst, allClose),
		"tabular-playground-series-dec-2021":                  accuracy("Id", "Cover_Type"),
		"tabular-playground-series-may-2022":                  auroc("id", "target"),
		"text-normalization-challenge-english-language":       accuracy("id", "after").with(asText),
		"text-normalization-challenge-russian-language":       accuracy("id", "after").with(asText),
		"the-icml-2013-whale-challenge-right-whale-redux":     auroc("clip", "probability"),
		"cassava-leaf-disease-classification":                 accuracy("image_id", "label"),
		"cdiscount-image-classification-challenge":            accuracy("_id", "category_id"),
		"chaii-hindi-and-tamil-question-answering":            wordJaccard("id", "PredictionString", true),
		"champs-scalar-coupling":                              champs(),
		"facebook-recruiting-iii-keyword-extraction":          tagsF1("Id", "Tags"),
		"freesound-audio-tagging-2019":                        freesound(),
		"google-quest-challenge":                              googleQuest(),
		"herbarium-2020-fgvc7":                                macroF1("Id", "Predicted"),
		"herbarium-2021-fgvc8":                                macroF1("Id", "Predicted"),
		"herbarium-2022-fgvc9":                                macroF1("Id", "Predicted"),
		"hotel-id-2021-fgvc8":                                 mapAt5("image", "hotel_id"),
		"imet-2020-fgvc7":                                     tagsF1("id", "attribute_ids"),
		"inaturalist-2019-fgvc6":                              topOneError("id", "predicted"),
		"iwildcam-2020-fgvc7":                                 accuracy("Id", "Category"),
		"learning-agency-lab-automated-essay-scoring-2":       qwk("essay_id", "score"),
		"lmsys-chatbot-arena":                                 lmsys(),
		"petfinder-pawpularity-score":                         rmse("Id", "Pawpularity").with(func(p *plan) { p.check = between(1, 100) }),
		"plant-pathology-2021-fgvc8":                          tagsF1("image", "labels"),
		"seti-breakthrough-listen":                            auroc("id", "target"),
		"statoil-iceberg-classifier-challenge":                binaryLogLoss("id", "is_iceberg"),
		"tensorflow-speech-recognition-challenge":             accuracy("fname", "label"),
		"tweet-sentiment-extraction":                          wordJaccard("textID", "selected_text", false),
		"us-patent-phrase-to-phrase-matching":                 patents(),
		"ventilator-pressure-prediction":                      ventilator(),
		"whale-categorization-playground":                     mapAt5("Image", "Id").with(func(p *plan) { p.header = exactly }),
		"iwildcam-2019-fgvc6":                                 macroF1("Id", "Category"),
		"nfl-player-contact-detection":                        contacts(),
		"predict-volcanic-eruptions-ingv-oe":                  mae("segment_id", "time_to_eruption").with(func(p *plan) { p.score = whole(p.score) }),
		"rsna-miccai-brain-tumor-radiogenomic-classification": auroc("BraTS21ID", "MGMT_value"),
		"stanford-covid-vaccine":                              stanford(),
		"invasive-species-monitoring":                         auroc("name", "invasive"),
		"ml2021spring-hw2":                                    accuracy("Id", "ClassId"),
		"movie-review-sentiment-analysis-kernels-only":        accuracy("PhraseId", "Sentiment"),
		"paddy-disease-classification":                        accuracy("image_id", "label").with(func(p *plan) { p.score, p.gaps = filledLabels(p.score), true }),
		"plant-seedlings-classification":                      seedlings(),
		"playground-series-s3e18":                             auroc("id", "EC1", "EC2").with(unchecked),
		"spaceship-titanic":                                   accuracy("PassengerId", "Transported"),
	}
}

// jigsawToxic leaves out rows that were not used for scoring, whose labels
// are all -1, and does not look at the predictions' range. Its grade.py pairs
// columns by place, so other orders are refused here rather than scored.
func jigsawToxic() *plan {
	classes := []string{"toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"}
	return auroc("id", classes...).with(func(p *plan) {
		p.check, p.header = nil, inOrder
		p.only = &condition{column: "toxic", holds: func(x float64) bool { return x >= 0 }}
	})
}

func nomad() *plan {
	return &plan{metric: "mean RMSLE", ids: positional,
		columns: []string{"formation_energy_ev_natom", "bandgap_energy_ev"},
		score:   onColumns(weightless(metric.MeanRMSLE))}
}

func ranzcr() *plan {
	return auroc("StudyInstanceUID",
		"ETT - Abnormal", "ETT - Borderline", "ETT - Normal",
		"NGT - Abnormal", "NGT - Borderline", "NGT - Incompletely Imaged", "NGT - Normal",
		"CVC - Abnormal", "CVC - Borderline")
}

func lmsys() *plan {
	return logLoss("id", atLeast, 5e-7).with(func(p *plan) {
		p.columns = []string{"winner_model_a", "winner_model_b", "winner_tie"}
	})
}

func wordJaccard(id, column string, bothEmpty bool) *plan {
	return &plan{metric: "mean word Jaccard", higher: true, id: id, columns: []string{column}, gaps: true,
		score: onWords(bothEmpty)}
}

func champs() *plan {
	return &plan{metric: "mean log MAE", id: "id", columns: []string{"scalar_coupling_constant"}, score: onTypes}
}

func freesound() *plan {
	return &plan{metric: "label-ranking AP", higher: true, id: "fname", header: inOrder, score: onLabelRanking}
}

func googleQuest() *plan {
	return &plan{metric: "mean Spearman", higher: true, id: "qa_id", header: exactly, score: onColumns(metric.MeanSpearman)}
}

func mapAt5(id, column string) *plan {
	return &plan{metric: "MAP@5", higher: true, id: id, columns: []string{column}, gaps: true,
		score: onRankings(5)}
}

func topOneError(id, column string) *plan {
	return &plan{metric: "top-1 error", id: id, columns: []string{column},
		score: firstWord(onIntegers(weightless(metric.Error[int])))}
}

func patents() *plan {
	return &plan{metric: "Pearson r", higher: true, id: "id", columns: []string{"score"}, score: onNumbers(metric.Pearson)}
}

// ventilator judges the breaths' inspiratory phase only.
func ventilator() *plan {
	return mae("id", "pressure").with(func(p *plan) {
		p.only = &condition{column: "u_out", holds: func(x float64) bool { return x == 0 }}
	})
}

func contacts() *plan {
	return &plan{metric: "MCC", higher: true, id: "contact_id", columns: []string{"contact"},
		score: onLabels(weightless(metric.MCC[string]), weightless(metric.MCC[float64]))}
}

// stanford wants five columns, judges three, and only rows marked to keep.
// Its grade.py looks the mark up by a row's place in the file, so that only
// the sample submission's order is judged as it was meant; so does this.
func stanford() *plan {
	return &plan{metric: "MCRMSE", id: "id_seqpos",
		columns: []string{"reactivity", "deg_Mg_pH10", "deg_Mg_50C"}, extra: []string{"deg_pH10", "deg_50C"},
		only:  &condition{column: "keep", holds: func(x float64) bool { return x == 1 }, byPlace: true},
		score: onColumns(weightless(metric.MCRMSE))}
}

// seedlings takes a missing species for one called nan.
func seedlings() *plan {
	micro := func(t, g []string) (float64, error) { return metric.F1(t, g, metric.Micro, nil) }
	return &plan{metric: "micro F1", higher: true, id: "file", columns: []string{"species"}, gaps: true, score: onText(micro)}
}

// planByLabel guesses from the label in config.yaml how a competition that
// the benchmark does not have is graded. The id is the answers' first
// column, and all others are judged. It returns nil for a label that more
// than one grader may mean.
func planByLabel(label string) *plan {
	switch label {
	case "auc-roc", "auroc", "mean-column-wise-roc-auc", "auroc-multi-label", "column-wise ROC AUC":
		return auroc("")
	case "accuracy", "multi-class-classification-accuracy":
		return anyColumn(accuracy("", ""))
	case "log-loss":
		return anyColumn(binaryLogLoss("", ""))
	case "multi-class-log-loss":
		return logLoss("", atLeast, allClose)
	case "root-mean-squared-error", "root_mean_squared_error":
		return anyColumn(rmse("", ""))
	case "mean-column-wise-rmsle":
		return &plan{metric: "mean RMSLE", score: onColumns(weightless(metric.MeanRMSLE))}
	case "quadratic-weighted-kappa":
		return anyColumn(qwk("", ""))
	case "mean-absolute-error":
		return anyColumn(mae("", ""))
	case "pearson-correlation-coefficient":
		return anyColumn(patents().with(func(p *plan) { p.id = "" }))
	case "matthews-correlation-coefficient":
		return anyColumn(contacts().with(func(p *plan) { p.id = "" }))
	}
	return nil
}

// anyColumn makes a plan for one named column one for whichever it is.
func anyColumn(p *plan) *plan {
	p.columns, p.single = nil, true
	return p
}
